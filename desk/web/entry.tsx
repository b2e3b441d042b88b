// Starts the desk's application in the browser.
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import '#web/styles/tokens.css';
import '#web/styles/base.css';
import '#web/styles/preferences.css';
import '#desk/web/styles/fonts.css';
import '#desk/web/styles/desk.css';
import { App } from '#desk/web/app.tsx';

// Paper cannot be opened: what is folded is printed as well.
addEventListener('beforeprint', () => {
  for (const details of document.querySelectorAll('details')) details.open = true;
});

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
