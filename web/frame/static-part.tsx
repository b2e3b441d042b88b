// Parts of the page that are words and pictures alone. They are rendered once, at build time; in the browser the markup
// that came with the page is kept as it is. So their words and icons travel once, and hydration skips them.
import { createContext, useContext, type ReactNode } from 'react';

/** The markup of each static part, by its id. */
export type StaticMarkup = Readonly<Record<string, string>>;

export const StaticMarkupContext = createContext<StaticMarkup>({});

const ATTRIBUTE = 'data-static';

/** Takes the static parts out of the prerendered page, before anything changes it. */
export function collectStaticMarkup(root: Element): StaticMarkup {
  return Object.fromEntries(
    Array.from(root.querySelectorAll(`[${ATTRIBUTE}]`), (part): [string, string] => [
      part.getAttribute(ATTRIBUTE) ?? '',
      part.innerHTML,
    ]),
  );
}

/**
 * A static part.
 * @param children what to render at build time; null in the browser, so that the build can leave it out there
 */
export function StaticPart({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  const markup = useContext(StaticMarkupContext);
  const attributes = { [ATTRIBUTE]: id };
  if (children !== null) return <div {...attributes}>{children}</div>;
  return (
    <div {...attributes} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: markup[id] ?? '' }} />
  );
}
