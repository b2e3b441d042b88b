import type { BrowserType, LaunchOptions } from '@playwright/test';

import {
  VIEWPORT,
  type Engine,
  type EngineName,
  type EnginePage,
  type Role,
} from '#testing/engines/engine.ts';

export async function startWithPlaywright(browserType: BrowserType, options: LaunchOptions): Promise<Engine> {
  const browser = await browserType.launch(options);
  const name = browserType.name() as EngineName;

  const newPage = async (): Promise<EnginePage> => {
    const context = await browser.newContext({ viewport: VIEWPORT });
    const page = await context.newPage();
    const pageErrors: string[] = [];
    context.on('console', (message) => {
      if (message.type() === 'error') pageErrors.push(`${message.text()} (${message.location().url})`);
    });
    context.on('weberror', (error) => pageErrors.push(error.error().message));
    const find = (role: Role, accessibleName: string) =>
      page.getByRole(role, { name: accessibleName, exact: true });
    return {
      open: (url) => page.goto(url),
      reload: () => page.reload(),
      click: (role, accessibleName) => find(role, accessibleName).click(),
      box: async (role, accessibleName) => {
        const box = await find(role, accessibleName).boundingBox();
        if (box === null) throw new Error(`The ${role} "${accessibleName}" has no box.`);
        return box;
      },
      type: (text) => page.keyboard.type(text),
      press: (keys) => page.keyboard.press(keys),
      evaluate: (run, ...argument) => page.evaluate(run as (argument: unknown) => never, argument[0]),
      resize: (width, height) => page.setViewportSize({ width, height }),
      pageErrors: () => Promise.resolve(pageErrors),
      close: () => context.close(),
    };
  };
  return { name, version: `${name} ${browser.version()}`, newPage, close: () => browser.close() };
}
