// What the start of the application must not do, because a phone pays for it between tap and form.
import { expect, test } from './fixtures.ts';

declare global {
  var stacks: string[];
}

test('no error notes where it was made while the application loads, and errors do so afterwards', async ({
  page,
}) => {
  await page.addInitScript(() => {
    globalThis.stacks = [];
    const note = (error: Error) => {
      if (error.stack?.includes('/assets/app-')) stacks.push(error.stack);
      return error;
    };
    globalThis.Error = new Proxy(Error, {
      apply: (made, self, taken) => note(Reflect.apply(made, self, taken) as Error),
      construct: (made, taken, target) => note(Reflect.construct(made, taken, target) as Error),
    });
  });
  await page.goto('/');
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
  await expect(page.getByLabel('Full Name *')).toBeVisible();
  expect(await page.evaluate(() => stacks)).toEqual([]);
  expect(await page.evaluate(() => new Error('Where?').stack)).toMatch(/\n +at /);
});
