import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { Interface, Site } from '#shared/campaign-schema.ts';
import { renderDocument } from '#web/document.ts';

const page = (language: string) =>
  renderDocument({
    site: { language, title: 'A', pageTitle: 'A', description: 'A', publisher: 'A' } as Site,
    words: { loadFailure: { text: 'Please {link}.', link: 'reload' } } as Interface,
    markup: '<main>Write to ada@example.com</main>',
    css: '',
    bootScript: 'boot()',
    appUrl: '/app.js',
    secondFileUrl: '/second.js',
    displayUrl: '/assets/display-abc.woff2',
    counterUrl: null,
    icon: '<svg/>',
    page: 'home',
    variant: null,
    hasPicture: false,
  });

it('renderDocument asks Cloudflare not to change the script and the e-mail addresses', () => {
  assert.match(page('en'), /<script data-cfasync="false" [^>]*>boot\(\)<\/script>/);
  assert.match(page('en'), /<!--email_off--><div id="root">.*ada@example\.com.*<\/div><!--\/email_off-->/);
});
