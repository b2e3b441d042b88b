// The types that negotiator has elsewhere do not know "preferred"; this is the part of it that static-files.ts uses.
declare module 'negotiator' {
  class Negotiator {
    constructor(request: { readonly headers: object });
    /** The one of `available` that Accept-Encoding asks for; `preferred` decides between equals. */
    encoding<Encoding extends string>(
      available: readonly Encoding[],
      options: { readonly preferred: readonly string[] },
    ): Encoding | undefined;
  }

  export = Negotiator;
}
