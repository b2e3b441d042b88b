import { expect, stopClock, test, type Visitor } from './fixtures.ts';

/** Sends the form, which is answered with a toast. */
async function sendInVain(visitor: Visitor, body: string): Promise<void> {
  await visitor.page.route('**/api/leads', (route) => route.fulfill({ status: 503, body }), { times: 1 });
  await visitor.sendForm();
}

/** Makes the form answer with a toast, as often as wanted. */
async function provokeToast(visitor: Visitor, body: string): Promise<void> {
  await sendInVain(visitor, body);
  await expect(visitor.toast).toContainText(body);
}

test.beforeEach(async ({ page, visitor }) => {
  await page.clock.install();
  await page.goto('/');
  await visitor.openForm();
  await visitor.fillForm();
});

test('one toast at a time: a new one takes the place of the old', async ({ visitor }) => {
  await provokeToast(visitor, 'First.');
  await provokeToast(visitor, 'Second.');
  await expect(visitor.toast).toHaveCount(1);
  await expect(visitor.toast).not.toContainText('First.');
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

test('F8 moves the focus to the notifications', async ({ page, visitor }) => {
  await provokeToast(visitor, 'Look here.');
  await page.keyboard.press('F8');
  await expect(page.getByRole('region', { name: 'Notifications (F8)' }).getByRole('list')).toBeFocused();
});

test('a swipe to the right of 50 px closes it, a shorter one does not', async ({ page, visitor }) => {
  await provokeToast(visitor, 'Swipe me.');
  const swipe = async (distance: number) => {
    const box = await visitor.toast.boundingBox();
    const x = (box?.x ?? 0) + 40;
    const y = (box?.y ?? 0) + 20;
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let moved = 0; moved <= distance; moved += 5) await page.mouse.move(x + moved, y);
    await page.mouse.move(x + distance, y);
    await page.mouse.up();
  };
  await swipe(40);
  await page.clock.runFor(300);
  await expect(visitor.toast).toHaveCount(1);
  await swipe(-80);
  await page.clock.runFor(300);
  await expect(visitor.toast).toHaveCount(1);
  await swipe(70);
  await page.clock.runFor(300);
  await expect(visitor.toast).toHaveCount(0);
});
