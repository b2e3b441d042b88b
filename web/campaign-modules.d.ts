// The operator's words, as the build hands them to the page (build/vite-campaign.ts). Each entry is an export, so that the
// bundler leaves out the entries that a file does not use.

declare module '#campaign/site.yaml' {
  const site: Omit<import('#shared/campaign-schema.ts').Site, 'logo'> & {
    /** What the language calls itself. */
    readonly languageName: string;
    /** The logo, as high as the mark it replaces; sizes in CSS pixels. */
    readonly logo: { readonly src: string; readonly width: number; readonly height: number } | undefined;
    /** Which of the pages that are compared this one is; undefined in a campaign without variants. */
    readonly variant: string | undefined;
    /** The names of all of them, with commas. */
    readonly variants: string | undefined;
  };
  export = site;
}

declare module '#campaign/landing.yaml' {
  type Landing = import('#shared/campaign-schema.ts').Landing;
  type StaticSection = import('#web/landing/sections.tsx').StaticSection;
  /** A logo in the size at which it is shown, in CSS pixels. */
  type Logo = { readonly src: string; readonly width: number; readonly height: number };
  type With<Item, More> = Omit<Item, keyof More> & More;
  type Benefits = NonNullable<Landing['benefits']>;
  type Logos = NonNullable<Landing['logos']>;
  type Testimonials = NonNullable<Landing['testimonials']>;
  type Testimonial = With<Testimonials['cards'][number], { readonly logo: Logo | undefined }>;
  const landing: With<
    Landing,
    {
      readonly benefits:
        | With<
            Benefits,
            {
              /** `drawing`: the lines of an icon that the page does not draw itself. */
              readonly cards: readonly (Benefits['cards'][number] & {
                readonly drawing: string | undefined;
              })[];
            }
          >
        | undefined;
      readonly logos:
        | With<
            Logos,
            {
              readonly companies: readonly With<
                Logos['companies'][number],
                { readonly logo: Logo | undefined }
              >[];
            }
          >
        | undefined;
      readonly testimonials: With<Testimonials, { readonly cards: readonly Testimonial[] }> | undefined;
    }
  > & {
    /** The sections before the film's own, in their order; without a film, all of them. */
    readonly sectionsBefore: readonly StaticSection[];
    readonly sectionsAfter: readonly StaticSection[];
    /** Whether the film stands under the points of `howItWorks`. */
    readonly filmHasPoints: boolean;
    /** The first of the testimonials. */
    readonly testimonial: Testimonial | undefined;
    /** Titles for the guide's list of contents. */
    readonly chapters: readonly string[];
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
