// The supported browsers: the build targets them, checks/browsers.ts checks its output.

export const SERVED_BROWSERS = {
  chrome: '111',
  edge: '111',
  firefox: '115',
  safari: '16.4',
} as const;

export const BUILD_TARGET: readonly string[] = Object.entries(SERVED_BROWSERS).map(
  ([name, version]) => `${name}${version}`,
);
