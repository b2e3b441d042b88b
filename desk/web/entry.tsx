import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import '#web/styles/tokens.css';
import '#web/styles/base.css';
import '#web/styles/preferences.css';
import '#desk/web/styles/desk.css';
import { App } from '#desk/web/app.tsx';

addEventListener('beforeprint', () => {
  for (const details of document.querySelectorAll('details')) details.open = true;
});

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
