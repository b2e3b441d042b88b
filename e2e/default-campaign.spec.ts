// The specification's words and numbers in campaign/. Other tests use testing/campaign. Operators who change campaign/ delete
// this file or adapt it.
import { DEFAULT_CAMPAIGN } from '#testing/built-site.ts';
import { createVisitor, expect, test } from './fixtures.ts';

test("the landing page contains the specification's words, in its order", async ({ page, startOwnSite }) => {
  const site = await startOwnSite({ campaign: DEFAULT_CAMPAIGN });
  await page.goto(site.url);
  const text = (await page.locator('body').innerText()).replace(/\s+/g, ' ');
  const sentences = [
    'Master AI-Powered Outreach',
    'AI-Enhanced Marketing Guide',
    'Master AI-Powered Cold Outreach',
    'Get Your Free Copy',
    'Trusted formula, used by hundreds of marketing professionals globally',
    '>10 X average ROI',
    "What You'll Learn",
    'Prompt Generation Mastery',
    '5-step framework for AI prompts',
    '5 Core Knowledge Bases',
    '4 Psychological Drivers',
    'Actionable, Aspirational, Analytical and Anthropological buyer personas',
    'Deliverability Mastery',
    'Domain setup and warming',
    'Campaign Optimisation',
    'Data-driven refinement loops',
    'Real Case Studies',
    '11.4% reply rates, up from 3.2%',
    'ROI from 4:1 to 9.7:1',
    'See How It Works',
    'Structure intelligence with 5 knowledge bases',
    'Apply psychological drivers to personas',
    'Optimise deliverability and measure results',
    'Why Most Cold Outreach Fails',
    'No Strategic Foundation',
    'Poor Deliverability',
    'Generic Content',
    'The Solution',
    'proven framework',
    'Structured',
    'Personalised',
    'Measurable',
    'average ROI of 10.2x',
    'Proven Results From Real Teams',
    '3.5x improvement in 60 days',
    '9.7:1 ROI achieved',
    'Ready to Master AI-Powered Outreach?',
    'Get Your Free Copy Now',
    'No credit card required • Instant access • Unsubscribe anytime',
    '©',
    'Privacy Policy',
    'Terms of Service',
  ];
  let from = 0;
  for (const sentence of sentences) {
    const at = text.indexOf(sentence, from);
    expect(
      at,
      `"${sentence}" comes after "${text.slice(Math.max(0, from - 40), from)}"`,
    ).toBeGreaterThanOrEqual(0);
    from = at + sentence.length;
  }
  await expect(page.getByRole('link', { name: 'Privacy Policy' })).toHaveAttribute('href', '#');
  await expect(page.getByRole('link', { name: 'Terms of Service' })).toHaveAttribute('href', '#');
  const entries = (section: string) =>
    page.getByRole('region', { name: section, exact: true }).getByRole('listitem');
  for (const [section, count] of [
    ["What You'll Learn", 6],
    ['See How It Works', 3],
    ['Why Most Cold Outreach Fails', 3],
    ['The Solution', 3],
    ['Proven Results From Real Teams', 2],
  ] as const)
    await expect(entries(section), section).toHaveCount(count);

  const struckOut = page.getByRole('region', { name: 'Why Most Cold Outreach Fails' }).locator('s');
  await expect(struckOut).toHaveCount(3);
  for (const line of await struckOut.all())
    await expect(line).toHaveCSS('text-decoration-line', 'line-through');

  await createVisitor(page, site).openForm();
  await expect(
    page.getByRole('checkbox', {
      name: 'I agree to receive emails about this guide and related marketing insights. You can unsubscribe anytime.',
    }),
  ).toBeVisible();
});
