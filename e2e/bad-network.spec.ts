import type { Page } from '@playwright/test';

import {
  fulfillNext,
  bodiesOf,
  expect,
  hold,
  nextFrame,
  requestsTo,
  test,
  withoutArticle,
  wrongFor,
  type Visitor,
} from './fixtures.ts';

const SUBMISSION_FAILED = 'Failed to submit form. Please try again.';
const VERIFICATION_FAILED = 'Invalid code. Please try again.';

const tryAgain = (page: Page) => page.getByRole('button', { name: 'Try again' });

async function settle(page: Page): Promise<void> {
  await page.evaluate(() => fetch('/api/live'));
  await nextFrame(page);
}

test('a form, code or article sent offline fails at once', async ({ page, visitor, context, site }) => {
  await visitor.startAtFilledForm();
  const forms = requestsTo(page, '/api/leads');
  await context.setOffline(true);
  await visitor.sendForm();
  await expect(visitor.toast).toContainText(SUBMISSION_FAILED);
  await expect(page.getByRole('button', { name: 'Send Verification Code' })).toBeEnabled();
  await context.setOffline(false);
  await settle(page);
  expect(forms).toHaveLength(1);
  await expect(visitor.form).toBeVisible();
  expect(site.inbox.mailsTo(visitor.email)).toHaveLength(0);

  await visitor.sendFilledForm();
  const code = await visitor.mailedCode();
  const codes = requestsTo(page, '/api/verify');
  await context.setOffline(true);
  await visitor.enterCode(code);
  await expect(visitor.toast).toContainText(VERIFICATION_FAILED);
  expect(await visitor.boxValues()).toBe(code);
  await context.setOffline(false);
  await settle(page);
  expect(codes).toHaveLength(1);
  await expect(visitor.codeScreen).toBeVisible();

  await withoutArticle(page);
  await fulfillNext(page, '**/api/article', null);
  await tryAgain(page).click();
  const notLoaded = page.getByText('The guide could not be loaded.');
  await expect(notLoaded).toBeVisible();
  const articles = requestsTo(page, '/api/article');
  await context.setOffline(true);
  await tryAgain(page).click();
  await expect.poll(() => articles.length).toBe(1);
  await expect(notLoaded).toBeVisible();
  await context.setOffline(false);
  await settle(page);
  expect(articles).toHaveLength(1);
  await tryAgain(page).click();
  await expect(visitor.article).toBeVisible();
});

async function letCome(page: Page, url: string, release: () => void): Promise<void> {
  const response = page.waitForResponse(url);
  release();
  await (await response).finished();
  await settle(page);
}

test('a late response to a form or code does not move a visitor who left it', async ({ page, visitor }) => {
  const releaseForm = await hold(page, '**/api/leads');
  await visitor.startAtFilledForm();
  await visitor.sendForm();
  await expect(page.getByRole('button', { name: 'Sending Code...' })).toBeVisible();
  await page.goBack();
  await expect(visitor.landing).toBeVisible();
  await letCome(page, '**/api/leads', releaseForm);
  await expect(visitor.landing).toBeVisible();
  await expect(visitor.toast).toHaveCount(0);
  await visitor.openForm();
  await expect(page.getByLabel('Work Email *')).toHaveValue(visitor.email);
  await visitor.sendFilledForm();

  const code = await visitor.mailedCode();
  const releaseCode = await hold(page, '**/api/verify');
  await visitor.enterCode(code);
  await expect(page.getByText('Verifying code...')).toBeVisible();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(visitor.form).toBeVisible();
  await letCome(page, '**/api/verify', releaseCode);
  await expect(visitor.form).toBeVisible();
  await expect(visitor.toast.filter({ hasText: 'Verified!' })).toHaveCount(0);
  await page.goBack();
  await visitor.openArticle(code);
});

const BUSY = 'Too many requests came from your network. Please try again in 40 seconds.';

const NOT_CHECKED = [
  { what: 'a portal', status: 200, body: '<!DOCTYPE html><p>Please sign in.', says: VERIFICATION_FAILED },
  { what: 'a failing server', status: 500, body: '', says: VERIFICATION_FAILED },
  {
    what: 'a busy network',
    status: 429,
    headers: { 'x-error-code': 'too-many-requests', 'retry-after': '40' },
    body: BUSY,
    says: `429: ${BUSY}`,
  },
];

/** Aborts the check of a code, so its digits stay in the boxes unchecked. */
async function leaveUnchecked(visitor: Visitor, digits: string): Promise<void> {
  await fulfillNext(visitor.page, '**/api/verify', null);
  await visitor.enterCode(digits);
  await expect(tryAgain(visitor.page)).toBeVisible();
}

test('an unchecked code stays, to be sent again, typed over or corrected', async ({ page, visitor }) => {
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  for (const { what, says, ...fulfilment } of NOT_CHECKED)
    await test.step(`code not checked because of ${what}`, async () => {
      await fulfillNext(page, '**/api/verify', fulfilment, 2);
      await visitor.enterCode(code);
      await expect(visitor.toast).toContainText('Verification Failed');
      await expect(visitor.toast).toContainText(says);
      await expect(page.getByText('Your code could not be checked.')).toBeVisible();
      await expect(tryAgain(page)).toBeFocused();
      expect(await visitor.boxValues()).toBe(code);
      for (const number of [1, 6]) {
        await expect(visitor.box(number)).toBeEnabled();
        await expect(visitor.box(number)).not.toHaveAttribute('aria-invalid', 'true');
      }
      const response = page.waitForResponse('**/api/verify');
      await page.keyboard.press('Enter');
      await response;
      // A press does nothing until the page has handled the response.
      await expect(visitor.box(1)).toBeEnabled();
      await expect(page.getByText('Your code could not be checked.')).toBeVisible();
      await expect(tryAgain(page)).toBeFocused();
    });

  await leaveUnchecked(visitor, wrongFor(code));
  await tryAgain(page).click();
  await expect(visitor.toast).toContainText('400: That code is wrong or no longer valid.');
  await expect(visitor.box(1)).toBeFocused();
  expect(await visitor.boxValues()).toBe('______');
  await expect(visitor.box(1)).toHaveAttribute('aria-invalid', 'true');
  await expect(tryAgain(page)).toHaveCount(0);

  await leaveUnchecked(visitor, wrongFor(code));
  const calls = requestsTo(page, '/api/verify');
  await expect(tryAgain(page)).toBeFocused();
  await page.keyboard.type(code.slice(0, 3));
  expect(await visitor.boxValues()).toBe(`${code.slice(0, 3)}___`);
  await expect(tryAgain(page)).toHaveCount(0);
  await fulfillNext(page, '**/api/verify', null);
  const typo = code[3] === '5' ? '6' : '5';
  await page.keyboard.type(`${typo}${code.slice(4)}`);
  await expect(tryAgain(page)).toBeVisible();

  await visitor.box(4).click();
  await page.keyboard.type(code[3] ?? '');
  await expect(visitor.article).toBeVisible();
  const mistyped = `${code.slice(0, 3)}${typo}${code.slice(4)}`;
  expect(bodiesOf(calls)).toMatchObject([{ code: mistyped }, { code }]);
});

test('a phone keyboard can type an unchecked code again', async ({ page, visitor }) => {
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  await leaveUnchecked(visitor, code);
  await visitor.box(1).focus();
  // Phone keyboards insert text without naming the pressed key.
  for (const digit of code) await page.keyboard.insertText(digit);
  await expect(visitor.article).toBeVisible();
});

/** The route stays, because removing it while a call is pending could also hold up the next call. */
async function neverAnswerFirst(page: Page, calls: string): Promise<void> {
  let isFirst = true;
  await page.route(calls, async (route) => {
    if (!isFirst) await route.continue();
    isFirst = false;
  });
}

test('a request without a response ends with a message after half a minute', async ({ page, visitor }) => {
  await page.clock.install();
  await visitor.startAtFilledForm();
  await neverAnswerFirst(page, '**/api/leads');
  const asked = page.waitForRequest('**/api/leads');
  await visitor.sendForm();
  await asked;
  await page.clock.runFor(29_000);
  await expect(page.getByRole('button', { name: 'Sending Code...' })).toBeVisible();
  await page.clock.runFor(1000);
  await expect(visitor.toast).toContainText('No answer came in time.');
  await expect(page.getByRole('button', { name: 'Send Verification Code' })).toBeEnabled();
  await visitor.sendFilledForm();

  await neverAnswerFirst(page, '**/api/verify');
  const code = await visitor.mailedCode();
  await visitor.enterCode(code);
  await expect(page.getByText('Verifying code...')).toBeVisible();
  await page.clock.runFor(30_000);
  await expect(visitor.toast).toContainText('Verification Failed');
  await expect(visitor.toast).toContainText('No answer came in time.');
  expect(await visitor.boxValues()).toBe(code);
  await tryAgain(page).click();
  await expect(visitor.article).toBeVisible();

  await neverAnswerFirst(page, '**/assets/second-*');
  await page.reload();
  await expect(page.getByText('One moment')).toBeVisible();
  await page.clock.runFor(30_000);
  await tryAgain(page).click();
  await expect(visitor.article).toBeVisible();
});

test('unreadable responses to the form and the code lead to the next stage', async ({ page, visitor }) => {
  for (const api of ['leads', 'verify'])
    await page.route(`**/api/${api}`, async (route) => {
      await route.fulfill({ response: await route.fetch(), body: '' });
    });
  await page.goto('/');
  await visitor.askForCode();
  await page.reload();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await visitor.openArticle();
  await expect(visitor.toast).toContainText('Verified!');
});

test('a user name and password are removed from the URL', async ({ page, visitor, site }) => {
  await page.goto(site.url.replace('://', '://user:secret@'));
  await visitor.askForCode();
  expect(await page.evaluate(() => document.URL)).toBe(`${site.url}/`);
});

test('a crashing application shows a notice instead of a blank page', async ({ page, expectedErrors }) => {
  expectedErrors.push(/planted/);
  await page.goto('/');
  await page.evaluate(() => {
    const matchMedia = window.matchMedia.bind(window);
    // Only the form's effect fails. An error in the press's handler would leave the landing page as it is.
    window.matchMedia = (query) => {
      if (document.querySelector('form') !== null) throw new Error('planted');
      return matchMedia(query);
    };
  });
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'could not be loaded completely' })).toBeVisible();
});
