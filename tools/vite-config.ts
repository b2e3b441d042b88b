// How Vite sees the page; shared by the build and the development server.
import path from 'node:path';

import react from '@vitejs/plugin-react';
import type { InlineConfig } from 'vite';

import { contentPlugin } from '#tools/vite-content.ts';

export const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
export const CONTENT_FOLDER = path.join(PROJECT_FOLDER, 'content');

/** What every use of Vite here has in common. */
export const viteConfig: InlineConfig = {
  configFile: false,
  root: path.join(PROJECT_FOLDER, 'web'),
  publicDir: path.join(PROJECT_FOLDER, 'web', 'public'),
  plugins: [contentPlugin(CONTENT_FOLDER), react()],
  build: { cssTarget: ['chrome123', 'safari17.5', 'firefox121'] },
  css: { modules: { generateScopedName: '[hash:base64:5]' } },
};
