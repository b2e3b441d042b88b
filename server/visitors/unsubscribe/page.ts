// The pages of an unsubscribe link.
import { escapeHtml } from '#server/platform/escape-html.ts';
import { wayHome } from '#server/http/letter-page.ts';
import type { Resource } from '#server/http/send-resource.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import { fill } from '#shared/words.ts';

/** What the mail program's button and ours send (RFC 8058, section 3.1). */
const ONE_CLICK = { name: 'List-Unsubscribe', value: 'One-Click' } as const;

/** What our page's form sends beside it. */
export const FROM_PAGE = 'page';

type UnsubscribePages = { readonly [Page in 'ask' | 'done' | 'unknown']: Resource };

/** Makes the pages once. */
export function createUnsubscribePages({
  config,
  campaign,
  letterPage: page,
}: Pick<VisitorContext, 'config' | 'campaign' | 'letterPage'>): UnsubscribePages {
  const words = campaign.interface.unsubscribe;
  const tab = fill(words.pageTitle, { title: campaign.site.title });
  const way = wayHome(words.home, config.basePath);
  const form = `<form method="post"><input type="hidden" name="${ONE_CLICK.name}" value="${ONE_CLICK.value}"><input type="hidden" name="${FROM_PAGE}" value="1"><button>${escapeHtml(words.button)}</button></form>`;
  return {
    ask: page({ tab, title: words.title, text: words.text, way: form }),
    done: page({ tab, title: words.doneTitle, text: words.doneText, way }),
    unknown: page({ tab, title: words.unknownTitle, text: words.unknownText, way }),
  };
}
