declare module '#campaign/site.yaml' {
  const site: Omit<import('#shared/campaign-schema.ts').Site, 'logo'> & {
    /** In the language that it names, such as Deutsch. */
    readonly languageName: string;
    /** CSS pixels, at the height of the default logo. */
    readonly logo: { readonly src: string; readonly width: number; readonly height: number } | undefined;
    /** Undefined in a campaign without variants. */
    readonly variant: string | undefined;
    readonly variants: string | undefined;
  };
  export = site;
}

declare module '#campaign/landing.yaml' {
  type Landing = import('#shared/campaign-schema.ts').Landing;
  type StaticSection = import('#web/landing/sections.tsx').StaticSection;
  /** CSS pixels, by the name of the file in media/. */
  type Logos = Readonly<
    Record<string, { readonly src: string; readonly width: number; readonly height: number }>
  >;
  const landing: Landing & {
    readonly sectionsBefore: readonly StaticSection[];
    readonly sectionsAfter: readonly StaticSection[];
    readonly isVideoInHowItWorks: boolean;
    readonly testimonial: NonNullable<Landing['testimonials']>['cards'][number] | undefined;
    /** Describes media/inside-1. */
    readonly firstPages: string | undefined;
    readonly chapters: readonly string[];
    /** SVG markup, by the name of the icon. */
    readonly drawings: Readonly<Record<string, string | undefined>>;
    readonly companyLogos: Logos;
    readonly testimonialLogos: Logos;
  };
  export = landing;
}

declare module '#campaign/interface.yaml' {
  type Interface = import('#shared/campaign-schema.ts').Interface;
  type Article = NonNullable<Interface['article']>;
  const interfaceWords: Omit<Interface, 'article'> & {
    readonly article: Omit<Article, 'chapters'> & {
      /** Undefined without `benefits`, whose titles they are. */
      readonly chapters:
        | (NonNullable<Article['chapters']> & { readonly titles: readonly string[] })
        | undefined;
    };
  };
  export = interfaceWords;
}

declare module '#campaign/form.yaml' {
  const form: import('#shared/campaign-schema.ts').OwnForm & {
    /** True if there are custom questions. A build-time constant, so pages without them do not contain their code. */
    readonly asksMore: boolean;
  };
  export = form;
}

declare module '#campaign/consent.yaml' {
  type Sentence = {
    readonly text: string;
    /** A hash of the text (server/campaign/campaign.ts), stored in consent receipts. */
    readonly version: string;
    readonly parts: readonly (string | { readonly label: string; readonly href: string })[];
    /** True if there are links. A build-time constant, so pages without them do not contain their code. */
    readonly isLinked: boolean;
  };
  const consent: Sentence & {
    /** Null if the form has no box for news, also a build-time constant. */
    readonly news: Sentence | null;
  };
  export = consent;
}
