// The operator's words, as the build hands them to the page (tools/vite-content.ts).

declare module '#content/site.yaml' {
  const site: import('#shared/content-schema.ts').Site;
  export default site;
}

declare module '#content/landing.yaml' {
  const landing: import('#shared/content-schema.ts').Landing;
  export default landing;
}

declare module '#content/consent.yaml' {
  const consent: import('#shared/content-schema.ts').Consent;
  export default consent;
}
