// Parts rendered once, at build time. The browser reuses their markup, so hydration skips them and the script does not repeat their
// words.
import type { ReactNode } from 'react';

const ATTRIBUTE = 'data-static';

let markup: Readonly<Record<string, string>> = {};

/** Call this before anything changes the page. */
export function collectStaticMarkup(root: Element): void {
  markup = Object.fromEntries(
    Array.from(root.querySelectorAll(`[${ATTRIBUTE}]`), (part): [string, string] => [
      part.getAttribute(ATTRIBUTE) ?? '',
      part.innerHTML,
    ]),
  );
}

/** @param children null in the browser, so the build drops them there */
export function StaticPart({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  const attributes = { [ATTRIBUTE]: id };
  if (children !== null) return <div {...attributes}>{children}</div>;
  return (
    <div {...attributes} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: markup[id] ?? '' }} />
  );
}
