import { Link } from '#desk/web/link.tsx';
import { EmptyState } from '#desk/web/ui/empty-state.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { frame } from '#desk/web/words.ts';

const words = frame.notFound;

export function NotFound() {
  return (
    <Page title={words.title}>
      <EmptyState text={words.text}>
        <Link href="/">{words.back}</Link>
      </EmptyState>
    </Page>
  );
}
