// The path of PUBLIC_URL, such as /guide, for a page that lives under another site. Every address of ours begins with it.

/** The build replaces it (build/vite-config.ts). */
declare const __SITE_PATH__: string;

/** Empty at the root of a host. */
export const SITE_PATH = typeof __SITE_PATH__ === 'undefined' ? '' : __SITE_PATH__;
