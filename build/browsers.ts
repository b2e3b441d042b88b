// The browsers that the page supports. The build targets them, and checks/browsers.ts checks its output against them (see
// CONTRIBUTING.md).

/** The oldest release of each family, by the names of @mdn/browser-compat-data. */
export const SERVED_BROWSERS = {
  chrome: '111',
  edge: '111',
  firefox: '115',
  safari: '16.4',
} as const;

/** The same releases, as the bundler and its CSS compiler write them. */
export const BUILD_TARGET: readonly string[] = Object.entries(SERVED_BROWSERS).map(
  ([name, version]) => `${name}${version}`,
);
