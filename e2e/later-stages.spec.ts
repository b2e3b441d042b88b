import { expect, requestsTo, test } from './fixtures.ts';

const SECOND_FILE = '**/assets/second-*';

test('a page without any interaction loads only its own files', async ({ page }) => {
  const requests = requestsTo(page, '/');
  const files = () =>
    requests.flatMap((request) => /\/assets\/(\w+)-[^/]*\.js$/.exec(request.url())?.[1] ?? []);
  await page.goto('/?utm_source=newsletter', { waitUntil: 'networkidle' });
  for (const request of requests)
    expect(`${request.method()} ${request.url()}`).toMatch(/^GET http:\/\/[^/]+\/(?!api\/)/);
  expect(files()).toEqual(['app']);
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).focus();
  await expect.poll(files).toEqual(['app', 'second']);
});

for (const [what, answer] of [
  ['fails to load', null],
  ['has been replaced by a newer one', { status: 404, body: '' }],
] as const)
  test(`a sent form survives a second script that ${what}`, async ({ page, visitor, expectedErrors }) => {
    expectedErrors.push(/assets\/second-/);
    await page.route(SECOND_FILE, (route) => (answer ? route.fulfill(answer) : route.abort()));
    await visitor.startAtFilledForm();
    await visitor.sendForm();
    await expect(visitor.toast).toContainText('Please check your email');
    await expect(page.getByRole('main')).toBeFocused();
    const again = page.getByRole('button', { name: 'Try again' });
    await expect(again).toBeVisible();
    await expect(
      page.getByRole('status').filter({ hasText: 'The next step could not be loaded' }),
    ).toBeVisible();
    if (answer) page.once('framenavigated', () => void page.unroute(SECOND_FILE));
    else await page.unroute(SECOND_FILE);
    await again.click();
    await expect(visitor.codeScreen).toBeVisible();
    await expect(visitor.box(1)).toBeFocused();
    await visitor.openArticle();
  });
