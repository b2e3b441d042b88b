/** Something a mail server of a test waits for: `null`, as if nothing were wrong, once it was opened. */
export function createGate(): { readonly opened: Promise<null>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<null>();
  return { opened: promise, open: () => resolve(null) };
}
