// The form and the code screen are two steps of one way: the same places, and how far one has come.
import { expect, openWithFonts, test } from './fixtures.ts';

test('the code screen keeps the places of the form, with the guide beside it and the step marked @layout', async ({
  page,
  visitor,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await openWithFonts(page);
  await visitor.openForm();
  const heading = page.getByRole('heading', { level: 1 });
  const beside = page.getByRole('complementary', { name: 'What You Will Have' });
  const current = page.getByRole('list', { name: 'Three steps to the guide' }).locator('[aria-current=step]');
  const places = async () => {
    const [title, plate] = [await heading.boundingBox(), await beside.boundingBox()];
    return { x: title?.x, y: title?.y, plate };
  };
  await expect(current).toHaveText('Details');
  await expect(beside.getByRole('img', { name: /guide/i })).toBeVisible();
  const onForm = await places();
  expect((onForm.plate?.y ?? 0) + (onForm.plate?.height ?? 0)).toBeLessThan(900);
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(heading).toHaveText('Verify Your Email');
  await expect(current).toHaveText('Code');
  await expect(beside.getByRole('img', { name: /guide/i })).toBeVisible();
  expect(await places()).toEqual(onForm);
  // A reload brings back the same places too.
  await page.reload();
  await expect(visitor.box(1)).toBeVisible();
  await expect.poll(places).toEqual(onForm);
});

for (const width of [320, 375, 768])
  test(`at ${width} px the reassurances stand under the button, each on one line @layout`, async ({
    page,
    visitor,
  }) => {
    await page.setViewportSize({ width, height: 800 });
    await openWithFonts(page);
    await visitor.openForm();
    const note = page.getByText('No credit card required • Instant access • Unsubscribe anytime');
    await expect(note).toBeVisible();
    const lines = await note.evaluate((element) =>
      Array.from(element.children, (one) => [one.textContent, one.getClientRects().length]),
    );
    expect(lines).toEqual([
      ['No credit card required •', 1],
      ['Instant access •', 1],
      ['Unsubscribe anytime', 1],
    ]);
    const wide = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(wide).toBe(0);
  });

test('between the address and the consent there is no more room than a suggestion needs', async ({
  page,
  visitor,
}) => {
  await page.goto('/');
  await visitor.openForm();
  const address = page.getByLabel('Work Email *');
  const consent = page.getByRole('checkbox');
  const gap = async () => {
    const [above, below] = [await address.boundingBox(), await consent.boundingBox()];
    return (below?.y ?? 0) - ((above?.y ?? 0) + (above?.height ?? 0));
  };
  expect(await gap()).toBeLessThanOrEqual(36);
  const before = await consent.boundingBox();
  await address.fill('ada@gmial.com');
  await address.blur();
  await expect(page.getByRole('button', { name: 'Did you mean ada@gmail.com?' })).toBeVisible();
  expect(await consent.boundingBox()).toEqual(before);
});
