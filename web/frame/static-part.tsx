// Parts rendered once, at build time. The browser reuses their markup, so hydration skips them and the script does not repeat their words.
import { createContext, useContext, type ReactNode } from 'react';

export type StaticMarkup = Readonly<Record<string, string>>;

export const StaticMarkupContext = createContext<StaticMarkup>({});

const ATTRIBUTE = 'data-static';

/** Call this before anything changes the page. */
export function collectStaticMarkup(root: Element): StaticMarkup {
  return Object.fromEntries(
    Array.from(root.querySelectorAll(`[${ATTRIBUTE}]`), (part): [string, string] => [
      part.getAttribute(ATTRIBUTE) ?? '',
      part.innerHTML,
    ]),
  );
}

/** @param children null in the browser, so the build drops them there */
export function StaticPart({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  const markup = useContext(StaticMarkupContext);
  const attributes = { [ATTRIBUTE]: id };
  if (children !== null) return <div {...attributes}>{children}</div>;
  return (
    <div {...attributes} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: markup[id] ?? '' }} />
  );
}
