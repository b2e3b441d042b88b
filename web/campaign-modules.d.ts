// The operator's words, as the build hands them to the page (build/vite-campaign.ts): one export for each entry, so that
// what a browser does not need is left out of its chunk.

declare module '#campaign/site.yaml' {
  type Site = import('#shared/campaign-schema.ts').Site;
  export const title: Site['title'];
  export const pageTitle: Site['pageTitle'];
  export const language: Site['language'];
  export const copyright: Site['copyright'];
  export const footerLinks: Site['footerLinks'];
  export const shareText: Site['shareText'];
  export const readOn: Site['readOn'];
  /** What the language calls itself. */
  export const languageName: string;
  /** The logo, as high as the mark it stands for; sizes in CSS pixels. */
  export const logo: { readonly src: string; readonly width: number; readonly height: number } | undefined;
}

declare module '#campaign/landing.yaml' {
  type Landing = import('#shared/campaign-schema.ts').Landing;
  export const hero: Landing['hero'];
  export const benefits: Landing['benefits'];
  export const howItWorks: Landing['howItWorks'];
  export const video: Landing['video'];
  export const problems: Landing['problems'];
  export const solution: Landing['solution'];
  export const testimonials: Landing['testimonials'];
  /** The first of the testimonials. */
  export const testimonial: Landing['testimonials']['cards'][number];
  export const promise: Landing['promise'];
  export const closing: Landing['closing'];
  export const withoutScript: Landing['withoutScript'];
}

declare module '#campaign/interface.yaml' {
  type Interface = import('#shared/campaign-schema.ts').Interface;
  export const header: Interface['header'];
  export const form: Interface['form'];
  export const validation: Interface['validation'];
  export const nextStep: Interface['nextStep'];
  export const verification: Interface['verification'];
  export const content: Interface['content'];
  export const toasts: Interface['toasts'];
  export const notFound: Interface['notFound'];
}

declare module '#campaign/consent.yaml' {
  type Consent = import('#shared/campaign-schema.ts').Consent;
  export const text: Consent['text'];
  /** Made from the text (server/campaign/campaign.ts); the receipt of a consent names it. */
  export const version: string;
}
