// The operator's words, as the build hands them to the page (build/vite-campaign.ts). Each entry is an export, so that the
// bundler leaves out the entries that a file does not use.

declare module '#campaign/site.yaml' {
  const site: Omit<import('#shared/campaign-schema.ts').Site, 'logo'> & {
    /** What the language calls itself. */
    readonly languageName: string;
    /** The logo, as high as the mark it replaces; sizes in CSS pixels. */
    readonly logo: { readonly src: string; readonly width: number; readonly height: number } | undefined;
  };
  export = site;
}

declare module '#campaign/landing.yaml' {
  type Landing = import('#shared/campaign-schema.ts').Landing;
  type Testimonial = Omit<Landing['testimonials']['cards'][number], 'logo'> & {
    /** The company's logo, as high as ours; sizes in CSS pixels. */
    readonly logo: { readonly src: string; readonly width: number; readonly height: number } | undefined;
  };
  const landing: Omit<Landing, 'testimonials'> & {
    readonly testimonials: { readonly title: string; readonly cards: readonly Testimonial[] };
    /** The first of the testimonials. */
    readonly testimonial: Testimonial;
  };
  export = landing;
}

declare module '#campaign/interface.yaml' {
  const interfaceWords: import('#shared/campaign-schema.ts').Interface;
  export = interfaceWords;
}

declare module '#campaign/form.yaml' {
  const form: import('#shared/campaign-schema.ts').OwnForm & {
    /** Whether there are any fields. A constant while the page is built, so that a page without them has nothing of them. */
    readonly asksMore: boolean;
  };
  export = form;
}

declare module '#campaign/consent.yaml' {
  const consent: import('#shared/campaign-schema.ts').Consent & {
    /** Made from the text (server/campaign/campaign.ts); the receipt of a consent names it. */
    readonly version: string;
  };
  export = consent;
}
