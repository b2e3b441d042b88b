import type { parts as consentParts } from '#campaign/consent.yaml';
import { verification as words } from '#campaign/interface.yaml';

/** The links open in a new tab, so a click does not leave the form. */
export function ConsentWithLinks({ parts }: { readonly parts: typeof consentParts }) {
  return parts.map((part, at) =>
    typeof part === 'string' ? (
      part
    ) : (
      <a
        key={`${at} ${part.href}`}
        href={part.href}
        target="_blank"
        rel="noopener"
        aria-label={`${part.label} ${words.newTab}`}
      >
        {part.label}
      </a>
    ),
  );
}
