// The bundler drops this code if the campaign has no variants.
import { variant } from '#campaign/site.yaml';
import { asksNotToBeCounted } from '#web/privacy-signals.ts';

/** `/?variant=b` previews a page; nothing is counted. */
export const isPreview = (): boolean => variant !== undefined && /[?&]variant=/.test(location.search);

export const ownVariant = (): { readonly variant?: string } =>
  variant === undefined || isPreview() || asksNotToBeCounted() ? {} : { variant };
