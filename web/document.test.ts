import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { Interface, Site } from '#shared/campaign-schema.ts';
import { renderDocument } from '#web/document.ts';

const page = (language: string, icon = '<svg/>') =>
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
    icon,
    page: 'home',
    variant: null,
    hasPicture: false,
  });

it('renderDocument asks Cloudflare not to change the script and the e-mail addresses', () => {
  assert.match(page('en'), /<script data-cfasync="false" [^>]*>boot\(\)<\/script>/);
  assert.match(page('en'), /<!--email_off--><div id="root">.*ada@example\.com.*<\/div><!--\/email_off-->/);
});

it('renderDocument keeps the quotes, entities and percent signs of an icon', () => {
  const icon = `<svg style="font-family:'Inter';width:5%25"><title>Research &amp; Reach</title></svg>`;
  const [, data = ''] = /href="data:image\/svg\+xml,([^"]*)"/.exec(page('en', icon)) ?? [];
  assert.equal(decodeURIComponent(data.replaceAll('&amp;', '&')), icon);
});
