// Calls that fail out there: no network, a proxy's error page, a captive portal, an answer that is lost or never comes.
import type { Page, Request } from '@playwright/test';

import { expect, test, withoutArticle, type Visitor } from './fixtures.ts';

const SUBMISSION_FAILED = 'Failed to submit form. Please try again.';
const VERIFICATION_FAILED = 'Invalid code. Please try again.';
const ERROR_PAGE = '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body>\r\n</html>';
const PORTAL_PAGE = '<!DOCTYPE html><title>Welcome to our Wi-Fi</title><p>Please sign in.';

test.beforeEach(async ({ page }) => {
  await page.goto('/');
});

/** The calls to a path from now on. */
function callsTo(page: Page, path: string): Request[] {
  const calls: Request[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith(path)) calls.push(request);
  });
  return calls;
}

const codeScreen = (page: Page) => page.getByRole('heading', { name: 'Verify Your Email' });
const tryAgain = (page: Page) => page.getByRole('button', { name: 'Try again' });

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
  await visitor.openForm();
  await visitor.fillForm();
  const calls = callsTo(page, '/api/leads');
  await context.setOffline(true);
  await visitor.sendForm();
  await expect(visitor.toast).toContainText(SUBMISSION_FAILED);
  await expect(page.getByRole('button', { name: 'Send Verification Code' })).toBeEnabled();
  expect(calls).toHaveLength(1);
  await context.setOffline(false);
  await settle(page);
  expect(calls).toHaveLength(1);
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeVisible();
  expect(site.inbox.mailsTo(visitor.email)).toHaveLength(0);
});

test('offline, a code is refused at once, stays in its boxes, and goes out again with one press', async ({
  page,
  visitor,
  context,
}) => {
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  const calls = callsTo(page, '/api/verify');
  await context.setOffline(true);
  await visitor.enterCode(code);
  await expect(visitor.toast).toContainText(VERIFICATION_FAILED);
  expect(await visitor.boxValues()).toBe(code);
  await context.setOffline(false);
  await settle(page);
  expect(calls).toHaveLength(1);
  await expect(codeScreen(page)).toBeVisible();
  await tryAgain(page).click();
  await expect(page.getByRole('article')).toBeVisible();
});

test('an article that could not be fetched offline waits for a press', async ({ page, visitor, context }) => {
  await visitor.askForCode();
  await withoutArticle(page);
  await page.route('**/api/article', (route) => route.abort(), { times: 1 });
  await visitor.enterCode(await visitor.mailedCode());
  await expect(page.getByText('The guide could not be loaded.')).toBeVisible();
  const calls = callsTo(page, '/api/article');
  await context.setOffline(true);
  await tryAgain(page).click();
  await expect.poll(() => calls.length).toBe(1);
  await expect(page.getByText('The guide could not be loaded.')).toBeVisible();
  await context.setOffline(false);
  await settle(page);
  expect(calls).toHaveLength(1);
  await tryAgain(page).click();
  await expect(page.getByRole('article')).toBeVisible();
});

test('an answer to the form does not pull back a visitor who has left it', async ({ page, visitor }) => {
  const left = Promise.withResolvers<void>();
  await page.route('**/api/leads', async (route) => {
    await left.promise;
    await route.continue();
  });
  await visitor.openForm();
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(page.getByRole('button', { name: 'Sending Code...' })).toBeVisible();
  await page.goBack();
  const landing = page.getByRole('heading', { level: 1, name: 'Master AI-Powered Cold Outreach' });
  await expect(landing).toBeVisible();
  const answered = page.waitForResponse('**/api/leads');
  left.resolve();
  await (await answered).finished();
  await settle(page);
  await expect(landing).toBeVisible();
  await expect(visitor.toast).toHaveCount(0);
  // What was typed is still there, and sends nothing twice.
  await visitor.openForm();
  await expect(page.getByLabel('Work Email *')).toHaveValue(visitor.email);
  await visitor.sendForm();
  await expect(codeScreen(page)).toBeVisible();
});

test('the answer to a code does not pull back a visitor who went to correct the address', async ({
  page,
  visitor,
}) => {
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  const left = Promise.withResolvers<void>();
  await page.route('**/api/verify', async (route) => {
    await left.promise;
    await route.continue();
  });
  await visitor.enterCode(code);
  await expect(page.getByText('Verifying code...')).toBeVisible();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  const form = page.getByRole('heading', { name: 'Get Your Free Copy' });
  await expect(form).toBeVisible();
  const answered = page.waitForResponse('**/api/verify');
  left.resolve();
  await (await answered).finished();
  await settle(page);
  await expect(form).toBeVisible();
  await expect(visitor.toast.filter({ hasText: 'Verified!' })).toHaveCount(0);
  // The code is used by now. A visitor who enters it again has access, and gets the article.
  await page.goBack();
  await visitor.enterCode(code);
  await expect(page.getByRole('article')).toBeVisible();
});

test('the answer to a resend does not pull back a visitor who left, and is known when they return', async ({
  page,
  visitor,
}) => {
  await page.clock.install();
  await visitor.askForCode();
  const reference = (await page.getByText(/reference [A-Z]{3}/).textContent()) ?? '';
  await page.clock.fastForward(60_000);
  const left = Promise.withResolvers<void>();
  await page.route('**/api/leads', async (route) => {
    await left.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Resend Code' }).click();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  const form = page.getByRole('heading', { name: 'Get Your Free Copy' });
  await expect(form).toBeVisible();
  const answered = page.waitForResponse('**/api/leads');
  left.resolve();
  await (await answered).finished();
  await settle(page);
  await expect(form).toBeVisible();
  await page.goBack();
  await expect(codeScreen(page)).toBeVisible();
  await expect(page.getByText(/reference [A-Z]{3}/)).toBeVisible();
  await expect(page.getByText(reference)).toHaveCount(0);
});

test("in place of a proxy's error page or a portal's welcome, the page shows its own sentence", async ({
  page,
  visitor,
}) => {
  await visitor.openForm();
  await visitor.fillForm();
  const answers = [
    { status: 502, contentType: 'text/html', body: ERROR_PAGE },
    { status: 503, contentType: 'text/plain', body: `\n${PORTAL_PAGE}` },
    { status: 200, contentType: 'text/html; charset=utf-8', body: PORTAL_PAGE },
  ];
  for (const answer of answers) {
    await page.route('**/api/leads', (route) => route.fulfill(answer), { times: 1 });
    await visitor.sendForm();
    await expect(visitor.toast).toContainText(SUBMISSION_FAILED);
    await expect(visitor.toast).not.toContainText('<');
    await visitor.toast.getByRole('button', { name: 'Close notification' }).click();
    await expect(visitor.toast).toHaveCount(0);
  }
  // Any other body is shown as the text it is.
  await page.route('**/api/leads', (route) => route.fulfill({ status: 502, body: '<b>busy</b>, {"a":1}' }), {
    times: 1,
  });
  await visitor.sendForm();
  await expect(visitor.toast).toContainText('502: <b>busy</b>, {"a":1}');
  await visitor.sendForm();
  await expect(codeScreen(page)).toBeVisible();
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

for (const { what, ...answer } of NOT_CHECKED) {
  test(`a code that could not be checked (${what}) stays, is not called wrong, and goes out with one press`, async ({
    page,
    visitor,
  }) => {
    await visitor.askForCode();
    const code = await visitor.mailedCode();
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
    await page.keyboard.press('Enter');
    await expect(page.getByRole('article')).toBeVisible();
  });
}

/** Breaks one check off, so that a full row of digits stays. */
async function leaveUnchecked(visitor: Visitor, digits: string): Promise<void> {
  await visitor.page.route('**/api/verify', (route) => route.abort(), { times: 1 });
  await visitor.enterCode(digits);
  await expect(tryAgain(visitor.page)).toBeVisible();
}

test('over a code that could not be checked another one is typed as over an empty row', async ({
  page,
  visitor,
}) => {
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  await leaveUnchecked(visitor, code === '111111' ? '222222' : '111111');
  const calls = callsTo(page, '/api/verify');
  // From the button, as a visitor does who just types.
  await page.keyboard.type(code.slice(0, 3));
  expect(await visitor.boxValues()).toBe(`${code.slice(0, 3)}___`);
  await expect(tryAgain(page)).toHaveCount(0);
  await page.keyboard.type(code.slice(3));
  await expect(page.getByRole('article')).toBeVisible();
  expect(calls.map((call) => (call.postDataJSON() as { code: string }).code)).toEqual([code]);
});

test('one digit of a code that could not be checked is corrected alone', async ({ page, visitor }) => {
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  const slip = code[3] === '5' ? '6' : '5';
  await leaveUnchecked(visitor, `${code.slice(0, 3)}${slip}${code.slice(4)}`);
  await visitor.box(4).click();
  await page.keyboard.type(code[3] ?? '');
  await expect(page.getByRole('article')).toBeVisible();
});

test('a wrong code is called wrong and leaves nothing to send again', async ({ page, visitor }) => {
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  await leaveUnchecked(visitor, code === '000000' ? '000001' : '000000');
  await tryAgain(page).click();
  await expect(visitor.toast).toContainText('400: That code is wrong or no longer valid.');
  await expect(visitor.box(1)).toBeFocused();
  expect(await visitor.boxValues()).toBe('______');
  await expect(visitor.box(1)).toHaveAttribute('aria-invalid', 'true');
  await expect(tryAgain(page)).toHaveCount(0);
});

test('a code whose answer was lost on the way is entered again and opens the article', async ({
  page,
  visitor,
}) => {
  await visitor.askForCode();
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
  await expect(page.getByRole('article')).toBeVisible();
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
  await visitor.openForm();
  await visitor.fillForm();
  // Taken and never answered; the page ends them.
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
  await expect(codeScreen(page)).toBeVisible();

  await neverAnswerFirst(page, '**/api/verify');
  const code = await visitor.mailedCode();
  await visitor.enterCode(code);
  await expect(page.getByText('Verifying code...')).toBeVisible();
  await page.clock.runFor(30_000);
  await expect(visitor.toast).toContainText('Verification Failed');
  await expect(visitor.toast).toContainText('No answer came in time.');
  expect(await visitor.boxValues()).toBe(code);
  await tryAgain(page).click();
  await expect(page.getByRole('article')).toBeVisible();
});

test('a success without a readable body is a success', async ({ page, visitor }) => {
  await page.route('**/api/leads', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: '' });
  });
  await page.route('**/api/verify', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: 'well done' });
  });
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  // The page does not know which code it waits for: it takes its browser's newest one.
  await page.reload();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await visitor.enterCode(code);
  await expect(visitor.toast).toContainText('Verified!');
  await expect(page.getByRole('article')).toBeVisible();
});

test('a link with user and password in it opens the page without them, and every call works', async ({
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
