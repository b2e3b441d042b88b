// A drawing of the server's, in the colours of the desk. The sentence above it and the table below say the same in words.
import styles from '#desk/web/report/chart.module.css';

/** @param svg one SVG element of our own server */
export const Chart = ({ svg }: { readonly svg: string }) => (
  <div className={styles.chart} aria-hidden dangerouslySetInnerHTML={{ __html: svg }} />
);
