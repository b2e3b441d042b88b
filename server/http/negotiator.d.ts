// The published types for negotiator lack `preferred`.
declare module 'negotiator' {
  class Negotiator {
    constructor(request: { readonly headers: object });
    encoding<Encoding extends string>(
      available: readonly Encoding[],
      options: { readonly preferred: readonly string[] },
    ): Encoding | undefined;
  }

  export = Negotiator;
}
