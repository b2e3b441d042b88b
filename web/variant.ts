// What the application says of the page it belongs to, where several are compared. Without others, the bundler leaves all of this out.
import { variant } from '#campaign/site.yaml';
import { asksNotToBeCounted } from '#web/wishes.ts';

/** Whether the page is only looked at: `/?variant=b`. Nothing of such a view is counted. */
export const isPreview = (): boolean => variant !== undefined && /[?&]variant=/.test(location.search);

/** For the body of a call: which page this is, unless it is only looked at or the visitor asks not to be counted. */
export const ownVariant = (): { readonly variant?: string } =>
  variant === undefined || isPreview() || asksNotToBeCounted() ? {} : { variant };
