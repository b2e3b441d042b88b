// Calls that fail out there: no network, a proxy's error page, a captive portal, an answer that is lost or never comes.
import type { Page } from '@playwright/test';

import {
  answerOnce,
  expect,
  hold,
  requestsTo,
  test,
  withoutArticle,
  wrongFor,
  type Visitor,
} from './fixtures.ts';

const SUBMISSION_FAILED = 'Failed to submit form. Please try again.';
const VERIFICATION_FAILED = 'Invalid code. Please try again.';
const ERROR_PAGE = '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body>\r\n</html>';
const PORTAL_PAGE = '<!DOCTYPE html><title>Welcome to our Wi-Fi</title><p>Please sign in.';

const tryAgain = (page: Page) => page.getByRole('button', { name: 'Try again' });
const codesIn = (calls: ReturnType<typeof requestsTo>) =>
  calls.map((call) => (call.postDataJSON() as { code: string }).code);

/** The page has done all that it does by itself: it was drawn twice, and the server was asked and answered. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await fetch('/api/live');
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await frame();
    await frame();
  });
}

test('offline, the form says at once that it could not be sent, and nothing goes out later by itself', async ({
  page,
  visitor,
  context,
  site,
}) => {
  await visitor.startAtForm();
  await visitor.fillForm();
  const calls = requestsTo(page, '/api/leads');
  await context.setOffline(true);
  await visitor.sendForm();
  await expect(visitor.toast).toContainText(SUBMISSION_FAILED);
  await expect(page.getByRole('button', { name: 'Send Verification Code' })).toBeEnabled();
  expect(calls).toHaveLength(1);
  await context.setOffline(false);
  await settle(page);
  expect(calls).toHaveLength(1);
  await expect(visitor.form).toBeVisible();
  expect(site.inbox.mailsTo(visitor.email)).toHaveLength(0);
});

test('offline, a code is refused at once, stays in its boxes, and goes out again with one press', async ({
  page,
  visitor,
  context,
}) => {
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  const calls = requestsTo(page, '/api/verify');
  await context.setOffline(true);
  await visitor.enterCode(code);
  await expect(visitor.toast).toContainText(VERIFICATION_FAILED);
  expect(await visitor.boxValues()).toBe(code);
  await context.setOffline(false);
  await settle(page);
  expect(calls).toHaveLength(1);
  await expect(visitor.codeScreen).toBeVisible();
  await tryAgain(page).click();
  await expect(visitor.article).toBeVisible();
});

test('an article that could not be fetched offline waits for a press', async ({ page, visitor, context }) => {
  await visitor.startAtCode();
  await withoutArticle(page);
  await answerOnce(page, '**/api/article', null);
  await visitor.enterCode(await visitor.mailedCode());
  await expect(page.getByText('The guide could not be loaded.')).toBeVisible();
  const calls = requestsTo(page, '/api/article');
  await context.setOffline(true);
  await tryAgain(page).click();
  await expect.poll(() => calls.length).toBe(1);
  await expect(page.getByText('The guide could not be loaded.')).toBeVisible();
  await context.setOffline(false);
  await settle(page);
  expect(calls).toHaveLength(1);
  await tryAgain(page).click();
  await expect(visitor.article).toBeVisible();
});

/** Lets a held answer come, and the page see it. */
async function letCome(page: Page, url: string, release: () => void): Promise<void> {
  const answered = page.waitForResponse(url);
  release();
  await (await answered).finished();
  await settle(page);
}

test('an answer to the form does not pull back a visitor who has left it', async ({ page, visitor }) => {
  const release = await hold(page, '**/api/leads');
  await visitor.startAtForm();
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(page.getByRole('button', { name: 'Sending Code...' })).toBeVisible();
  await page.goBack();
  await expect(visitor.landing).toBeVisible();
  await letCome(page, '**/api/leads', release);
  await expect(visitor.landing).toBeVisible();
  await expect(visitor.toast).toHaveCount(0);
  // What was typed is still there, and sends nothing twice.
  await visitor.openForm();
  await expect(page.getByLabel('Work Email *')).toHaveValue(visitor.email);
  await visitor.sendForm();
  await expect(visitor.codeScreen).toBeVisible();
});

test('answers to a resend and to a code do not pull back a visitor who went to correct the address', async ({
  page,
  visitor,
}) => {
  await page.clock.install();
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  const reference = (await page.getByText(/reference [A-Z]{3}/).textContent()) ?? '';
  await page.clock.fastForward(60_000);
  const releaseResend = await hold(page, '**/api/leads');
  await page.getByRole('button', { name: 'Resend Code' }).click();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(visitor.form).toBeVisible();
  await letCome(page, '**/api/leads', releaseResend);
  await expect(visitor.form).toBeVisible();
  await page.goBack();
  await expect(visitor.codeScreen).toBeVisible();
  // The answer is known all the same.
  await expect(page.getByText(/reference [A-Z]{3}/)).toBeVisible();
  await expect(page.getByText(reference)).toHaveCount(0);

  const releaseVerify = await hold(page, '**/api/verify');
  await visitor.enterCode(code);
  await expect(page.getByText('Verifying code...')).toBeVisible();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(visitor.form).toBeVisible();
  await letCome(page, '**/api/verify', releaseVerify);
  await expect(visitor.form).toBeVisible();
  await expect(visitor.toast.filter({ hasText: 'Verified!' })).toHaveCount(0);
  // The code is used by now. A visitor who enters it again has access, and gets the article.
  await page.goBack();
  await visitor.enterCode(code);
  await expect(visitor.article).toBeVisible();
});

/** Answers that say nothing about the code. */
const NOT_CHECKED = [
  { what: 'a broken proxy', status: 502, contentType: 'text/html', body: ERROR_PAGE },
  { what: 'a portal', status: 200, contentType: 'text/html', body: PORTAL_PAGE },
  { what: 'a refused header', status: 400, contentType: 'text/html', body: ERROR_PAGE },
  {
    what: 'a busy network',
    status: 429,
    contentType: 'text/plain',
    headers: { 'x-error-code': 'too-many-requests', 'retry-after': '40' },
    body: 'Too many requests came from your network. Please try again in 40 seconds.',
  },
];

test('a code that could not be checked stays, is not called wrong, and goes out with one press', async ({
  page,
  visitor,
}) => {
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  for (const { what, ...answer } of NOT_CHECKED)
    await test.step(`not checked because of ${what}`, async () => {
      await page.route('**/api/verify', (route) => route.fulfill(answer), { times: 2 });
      await visitor.enterCode(code);
      await expect(visitor.toast).toContainText('Verification Failed');
      await expect(visitor.toast).toContainText(answer.status === 429 ? answer.body : VERIFICATION_FAILED);
      await expect(page.getByText('Your code could not be checked.')).toBeVisible();
      await expect(tryAgain(page)).toBeFocused();
      expect(await visitor.boxValues()).toBe(code);
      for (const number of [1, 6]) {
        await expect(visitor.box(number)).toBeEnabled();
        await expect(visitor.box(number)).not.toHaveAttribute('aria-invalid', 'true');
      }
      // It fails again: the press has lost neither the code nor the focus.
      const answered = page.waitForResponse('**/api/verify');
      await page.keyboard.press('Enter');
      await answered;
      // The answer has come, and the page has seen it: until then, a press does nothing.
      await expect(visitor.box(1)).toBeEnabled();
      await expect(page.getByText('Your code could not be checked.')).toBeVisible();
      await expect(tryAgain(page)).toBeFocused();
    });
  await page.keyboard.press('Enter');
  await expect(visitor.article).toBeVisible();
});

/** Breaks one check off, so that a full row of digits stays. */
async function leaveUnchecked(visitor: Visitor, digits: string): Promise<void> {
  await answerOnce(visitor.page, '**/api/verify', null);
  await visitor.enterCode(digits);
  await expect(tryAgain(visitor.page)).toBeVisible();
}

test('a code that could not be checked is called wrong if it is, typed over, or corrected by one digit', async ({
  page,
  visitor,
}) => {
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
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
  // From the button, as a visitor does who just types.
  await page.keyboard.type(code.slice(0, 3));
  expect(await visitor.boxValues()).toBe(`${code.slice(0, 3)}___`);
  await expect(tryAgain(page)).toHaveCount(0);
  await answerOnce(page, '**/api/verify', null);
  const slip = code[3] === '5' ? '6' : '5';
  await page.keyboard.type(`${slip}${code.slice(4)}`);
  await expect(tryAgain(page)).toBeVisible();

  await visitor.box(4).click();
  await page.keyboard.type(code[3] ?? '');
  await expect(visitor.article).toBeVisible();
  expect(codesIn(calls)).toEqual([`${code.slice(0, 3)}${slip}${code.slice(4)}`, code]);
});

test('a code whose answer was lost on the way is entered again and opens the article', async ({
  page,
  visitor,
}) => {
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  const statuses: number[] = [];
  await page.route(
    '**/api/verify',
    async (route) => {
      // Past the browser, so that it gets neither the answer nor its cookies.
      const {
        'content-length': _,
        host: __,
        connection: ___,
        ...headers
      } = await route.request().allHeaders();
      const plain = Object.entries(headers).filter(([name]) => !name.startsWith(':'));
      const answer = await fetch(route.request().url(), {
        method: 'POST',
        headers: Object.fromEntries(plain),
        body: route.request().postData(),
      });
      statuses.push(answer.status);
      await route.abort('connectionreset');
    },
    { times: 1 },
  );
  await visitor.enterCode(code);
  await tryAgain(page).click();
  await expect(visitor.toast).toContainText('Verified!');
  await expect(visitor.article).toBeVisible();
  expect(statuses).toEqual([200]);
});

/** Leaves the first call without an answer. The interception stays: ending it while a call is held may hold the next one too. */
async function neverAnswerFirst(page: Page, calls: string): Promise<void> {
  let isFirst = true;
  await page.route(calls, async (route) => {
    if (!isFirst) await route.continue();
    isFirst = false;
  });
}

test('a call without an answer ends after half a minute and says so', async ({ page, visitor }) => {
  await page.clock.install();
  await visitor.startAtForm();
  await visitor.fillForm();
  await neverAnswerFirst(page, '**/api/leads');
  const asked = page.waitForRequest('**/api/leads');
  await visitor.sendForm();
  await asked;
  await page.clock.runFor(29_000);
  await expect(page.getByRole('button', { name: 'Sending Code...' })).toBeVisible();
  await page.clock.runFor(1000);
  await expect(visitor.toast).toContainText('No answer came in time.');
  await expect(page.getByRole('button', { name: 'Send Verification Code' })).toBeEnabled();
  await visitor.sendForm();
  await expect(visitor.codeScreen).toBeVisible();

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
});

test('a form whose answer has no readable body leads to a code screen that survives a reload', async ({
  page,
  visitor,
}) => {
  await page.route('**/api/leads', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: '' });
  });
  await page.goto('/');
  await visitor.askForCode();
  // The page does not know which code it waits for: it takes its browser's newest one.
  await page.reload();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await visitor.openArticle();
});

for (const body of ['{"verified":true}', '', 'OK'])
  test(`an answer to the right code that is "${body}" leads to the article as well`, async ({
    page,
    visitor,
  }) => {
    await page.route('**/api/verify', async (route) =>
      route.fulfill({ response: await route.fetch(), body }),
    );
    await visitor.startAtCode();
    await visitor.openArticle();
    await expect(visitor.article).toContainText('The full guide goes on from here');
    await expect(visitor.toast).toContainText('Verified!');
  });

test('a link with user and password in it opens the page without them, and a code is asked for and checked', async ({
  page,
  visitor,
  site,
}) => {
  await page.goto(site.url.replace('://', '://user:secret@'));
  await visitor.readArticle();
  expect(await page.evaluate(() => document.URL)).toBe(`${site.url}/`);
});

test('an application that fails says so, and leaves no white page', async ({ page, expectedComplaints }) => {
  expectedComplaints.push(/planted/);
  await page.goto('/');
  await page.evaluate(() => {
    window.matchMedia = () => {
      throw new Error('planted');
    };
  });
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'could not be loaded completely' })).toBeVisible();
});
