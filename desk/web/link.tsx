import type { ComponentProps } from 'react';

import { go } from '#desk/web/router.ts';

export function Link({ href, onClick, children, ...props }: ComponentProps<'a'> & { readonly href: string }) {
  return (
    <a
      href={href}
      {...props}
      onClick={(event) => {
        onClick?.(event);
        const isPlain =
          event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
        if (event.defaultPrevented || !isPlain) return;
        event.preventDefault();
        go(href);
      }}
    >
      {children}
    </a>
  );
}
