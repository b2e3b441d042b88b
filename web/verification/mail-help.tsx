import { verification as words } from '#campaign/interface.yaml';
import { fill } from '#shared/words.ts';
import { Button, buttonClass } from '#web/ui/button.tsx';
import { mailProviderOf } from '#web/verification/mail-providers.ts';
import type { ShownMailStatus } from '#web/verification/use-mail-status.ts';
import styles from '#web/verification/verification-stage.module.css';

type MailHelpProps = {
  readonly email: string;
  readonly sender: string;
  readonly status: ShownMailStatus;
  readonly onWrongEmail: () => void;
};

const SENTENCES: Partial<Record<ShownMailStatus, string>> = {
  refused: words.mailRefused,
  delayed: words.mailDelayed,
  late: words.mailSentLate,
};

export function MailHelp({ email, sender, status, onWrongEmail }: MailHelpProps) {
  const sentence = SENTENCES[status];
  const held = status === 'refused' || status === 'delayed';
  const provider = held || sender === '' ? null : mailProviderOf(email, sender);
  return (
    <>
      <div className={sentence && styles.note} data-refused={status === 'refused' || undefined}>
        <p role="status">{sentence && fill(sentence, { domain: email.slice(email.lastIndexOf('@') + 1) })}</p>
        {status === 'refused' && (
          <Button look="text" onClick={onWrongEmail}>
            {words.correctAddress}
          </Button>
        )}
      </div>
      {provider && (
        <a
          className={buttonClass('plain', styles.mailbox)}
          href={provider.href}
          target="_blank"
          rel="noopener noreferrer"
        >
          {fill(words.openMail, { provider: provider.name })}
          <span className={styles.announcement}> {words.newTab}</span>
        </a>
      )}
    </>
  );
}

export function NothingCame() {
  return (
    <div className={styles.nothingCame}>
      <h2>{words.nothingCame.title}</h2>
      <ul>
        {words.nothingCame.advice.map((advice) => (
          <li key={advice}>{advice}</li>
        ))}
      </ul>
    </div>
  );
}
