// The path of PUBLIC_URL, such as /guide; empty at the root of a host.

declare const __SITE_PATH__: string;

export const SITE_PATH = typeof __SITE_PATH__ === 'undefined' ? '' : __SITE_PATH__;
