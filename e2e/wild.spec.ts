import { expect, test, waitForFonts, type Visitor } from './fixtures.ts';

test('the landing page is complete without JavaScript and says what needs it', async ({ browser, site }) => {
  await using context = await browser.newContext({ javaScriptEnabled: false, baseURL: site.url });
  const page = await context.newPage();
  await page.goto('/');
  const headings = [
    "What You'll Learn",
    'See How It Works',
    'Why Most Cold Outreach Fails',
    'The Solution',
    'Proven Results From Real Teams',
    'Ready to Master AI-Powered Outreach?',
  ];
  for (const name of headings) await expect(page.getByRole('heading', { name })).toBeVisible();
  await expect(page.locator('noscript p')).toHaveCount(2);
  await expect(page.locator('noscript p').first()).toBeVisible();
  await expect(page.locator('noscript p').first()).toContainText('needs JavaScript');
  await expect(page.getByRole('link', { name: 'Privacy Policy' })).toBeVisible();
});

test('a visitor reaches the article in an old browser that forbids storage', async ({ page, visitor }) => {
  await page.addInitScript(() => {
    const get = () => {
      throw new DOMException('Forbidden', 'SecurityError');
    };
    for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get });
    // Safari 16 does not know modulepreload.
    DOMTokenList.prototype.supports = () => false;
    Object.defineProperty(HTMLLinkElement.prototype, 'rel', { set: () => {} });
  });
  await page.goto('/');
  await waitForFonts(page);
  await page.getByRole('button', { name: 'Toggle theme' }).click();
  await expect(page.locator('html')).toHaveClass('dark');
  await visitor.askForCode();
  await page.reload();
  await expect(visitor.codeScreen).toBeVisible();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
  await page.goBack();
  await visitor.openArticle();
});

/** Translation tools wrap every text in an element. */
async function translate(visitor: Visitor): Promise<void> {
  await visitor.page.evaluate(() => {
    const wrap = (root: Node) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      const texts: Text[] = [];
      while (walker.nextNode()) texts.push(walker.currentNode as Text);
      for (const text of texts) {
        if (!text.data.trim() || text.parentElement?.closest('script,style,noscript,font')) continue;
        const font = document.createElement('font');
        text.replaceWith(font);
        font.append(`«${text.data}»`);
      }
    };
    wrap(document.body);
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes)
        for (const node of addedNodes) if (node.nodeName !== 'FONT') wrap(node.parentNode ?? node);
    }).observe(document.body, { childList: true, subtree: true });
  });
}

test('the page works after a translation tool has rewritten its text', async ({ page, visitor }) => {
  await page.goto('/');
  await translate(visitor);
  await page.getByRole('button', { name: /Get Your Free Copy»?$/ }).click();
  await expect(visitor.form).toBeVisible();
  await page.getByRole('button', { name: /Send Verification Code/ }).click();
  await expect(page.getByText(/^«?Name must be at least 2 characters/)).toBeVisible();
  await visitor.fillForm();
  await expect(page.getByText(/^«?Name must be at least 2 characters/)).toHaveCount(0);
  await page.getByRole('button', { name: /Send Verification Code/ }).click();
  await expect(page.getByRole('heading', { name: /Verify Your Email/ })).toBeVisible();
  await page.getByRole('textbox').first().focus();
  await page.keyboard.type('000000');
  await expect(visitor.toast).toContainText('Verification Failed');
  await page.keyboard.type(await visitor.mailedCode());
  await expect(visitor.article).toBeVisible();
  await page.getByRole('button', { name: /Back/ }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Cold Outreach');
});

test('a reload, Back and Forward keep stage and text, and send no mail', async ({ page, visitor, site }) => {
  await page.clock.install();
  await page.goto('/?utm_source=test');
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  const reference = await page.getByText(/reference [A-Z]{3}/).textContent();
  await page.clock.fastForward(5_000);
  await page.reload();
  await expect(page.getByText(/^Resend in 5[0-5] seconds$/)).toBeVisible();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await expect(page.getByText(reference ?? 'none')).toBeVisible();

  await page.goBack();
  await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Master AI-Powered Cold Outreach');
  await expect(page.getByRole('heading', { name: "What You'll Learn" })).toBeVisible();
  await page.goForward();
  await expect(page.getByLabel('Work Email *')).toHaveValue(visitor.email);
  await page.goForward();
  await expect(visitor.codeScreen).toBeVisible();
  expect(page.url()).toBe(`${site.url}/?utm_source=test`);
  await visitor.openArticle(code);
  await page.goBack();
  await expect(visitor.form).toBeVisible();
  await page.goForward();
  await expect(visitor.article).toBeVisible();
  expect(site.inbox.mailsTo(visitor.email)).toHaveLength(1);
});

test('a link to "#" or "#top" keeps the stage; the title leads to the landing', async ({ page, visitor }) => {
  await visitor.startAtFilledForm();
  await page.getByRole('link', { name: 'Privacy Policy' }).click();
  await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
  await visitor.sendFilledForm();
  await page.getByRole('link', { name: 'Terms of Service' }).click();
  await page.evaluate(() => (location.hash = '#top'));
  await expect(page).toHaveURL(/#top$/);
  await expect(visitor.codeScreen).toBeVisible();
  await page.getByRole('banner').getByRole('link').click();
  await expect(visitor.landing).toBeVisible();
  await page.goBack();
  await expect(visitor.codeScreen).toBeVisible();
});
