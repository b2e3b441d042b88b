import { boxOf, expect, expectLoaded, inEveryFont, openWithFonts, resize, test } from './fixtures.ts';

test('the heading and its plate stay in place from form to code', async ({ page, visitor }) => {
  await resize(page, { width: 1440, height: 900 });
  await openWithFonts(page);
  await visitor.openForm();
  const heading = page.getByRole('heading', { level: 1 });
  const beside = page.getByRole('complementary');
  const guide = beside.getByRole('img', { name: /guide/i });
  const current = page.getByRole('list', { name: 'Three steps to the guide' }).locator('[aria-current=step]');
  const places = async () => {
    const { x, y } = await boxOf(heading);
    const { height: _, ...plate } = await boxOf(beside);
    return { x, y, plate };
  };
  await expect(current).toHaveText('Details');
  await expect(beside.getByRole('heading')).toHaveText('What You Will Have');
  await expect(guide).toBeVisible();
  await expectLoaded(guide);
  await expect(beside.getByRole('listitem')).toHaveCount(3);
  await expect(beside.getByText('Sarah Lindqvist')).toBeVisible();
  await expect(beside.getByText('3.5x improvement in 60 days')).toBeVisible();
  const onForm: Record<string, unknown> = {};
  await inEveryFont(page, async (font) => {
    onForm[font] = await places();
  });
  const form = await boxOf(page.locator('form'));
  expect((await places()).plate.x).toBeGreaterThan(form.x + form.width);
  const { y: top, height } = await boxOf(beside);
  expect(top + height).toBeLessThan(900);
  await resize(page, { width: 768, height: 900 });
  await expect(beside).toHaveCount(0);
  await expect(
    page.getByText('Six chapters on emails people answer. We email you a code that opens the guide.'),
  ).toBeVisible();
  await resize(page, { width: 1440, height: 900 });
  await visitor.sendValidForm();
  await expect(heading).toHaveText('Verify Your Email');
  await expect(current).toHaveText('Code');
  await expect(page.getByRole('complementary', { name: 'While you wait: the first pages' })).toBeVisible();
  await expect(beside.getByRole('img', { name: /^Two pages of the foundations/ })).toBeVisible();
  for (const reloads of [false, true]) {
    if (reloads) await page.reload();
    await expect(visitor.box(1)).toBeVisible();
    await inEveryFont(page, (font) => expect.poll(places, font).toEqual(onForm[font]));
  }
});

test('an e-mail suggestion moves nothing and focuses the field once accepted', async ({ page, visitor }) => {
  await visitor.startAtForm();
  const address = page.getByLabel('Work Email *');
  const places = async () => [
    await boxOf(page.getByRole('checkbox')),
    await boxOf(page.getByRole('button', { name: 'Send Verification Code' })),
  ];
  const before = await places();
  const { y, height } = await boxOf(address);
  expect((before[0]?.y ?? 0) - y - height).toBeLessThanOrEqual(44);
  const suggestion = page.getByRole('button', { name: 'Did you mean ada@gmail.com?' });
  for (const accept of [() => suggestion.press('Enter'), () => suggestion.click()]) {
    await address.fill('ada@gmial.com');
    await address.blur();
    await expect(suggestion).toBeVisible();
    expect(await places()).toEqual(before);
    await accept();
    await expect(address).toHaveValue('ada@gmail.com');
    await expect(address).toBeFocused();
    await expect(suggestion).toHaveCount(0);
    expect(await places()).toEqual(before);
  }
  await visitor.fillForm({ email: 'ada@gmial.com' });
  await page.route('**/api/leads', (route) => route.fulfill({ status: 202, body: '' }));
  await visitor.sendFilledForm();
});
