import { fulfillNext, boxOf, expect, stopClock, test, type Visitor } from './fixtures.ts';

test.use({ reducedMotion: 'no-preference' });

async function sendInVain(visitor: Visitor, body: string): Promise<void> {
  await fulfillNext(visitor.page, '**/api/leads', { status: 503, body });
  await visitor.sendForm();
}

test.beforeEach(async ({ page, visitor }) => {
  await page.clock.install();
  await visitor.startAtFilledForm();
});

test('a toast closes by itself after 5000 ms', async ({ page, visitor }) => {
  await page.mouse.move(5, 5);
  await stopClock(page);
  await sendInVain(visitor, 'Soon gone.');
  const STEP_MS = 20;
  await expect
    .poll(async () => {
      await page.clock.runFor(STEP_MS);
      return visitor.toast.count();
    })
    .toBe(1);
  await page.clock.runFor(5_000 - 3 * STEP_MS);
  await expect(visitor.toast).toHaveAttribute('data-state', 'open');
  await page.clock.runFor(3 * STEP_MS);
  await expect(visitor.toast).toHaveCount(0);
});

test('only one toast is shown, and it can be focused with F8 and swiped away', async ({ page, visitor }) => {
  for (const body of ['First.', 'Second.']) {
    await sendInVain(visitor, body);
    await expect(visitor.toast).toContainText(body);
  }
  await expect(visitor.toast).toHaveCount(1);
  await expect(visitor.toast).not.toContainText('First.');
  await page.keyboard.press('F8');
  await expect(page.getByRole('region', { name: 'Notifications (F8)' }).getByRole('list')).toBeFocused();

  const swipe = async (distance: number) => {
    const box = await boxOf(visitor.toast);
    const x = box.x + 40;
    const y = box.y + 20;
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let moved = 0; moved <= distance; moved += 5) await page.mouse.move(x + moved, y);
    await page.mouse.move(x + distance, y);
    await page.mouse.up();
    await page.clock.runFor(300);
  };
  await swipe(40);
  await expect(visitor.toast).toHaveCount(1);
  await swipe(-80);
  await expect(visitor.toast).toHaveCount(1);
  await swipe(70);
  await expect(visitor.toast).toHaveCount(0);
});
