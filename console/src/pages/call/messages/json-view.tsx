import { Fragment } from 'react';
import classes from '../call.module.css';

/** Larger texts are shown in one colour, because each coloured word is an element of the page. */
const MAX_COLOURED = 100_000;

/** Matches texts, then numbers and the three words of JSON. A text before a colon is a name. */
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|\btrue\b|\bfalse\b|\bnull\b)/g;

/** Shows JSON with its original content, indented. It scrolls by itself, also by keyboard. */
export function JsonView({ label, text }: { label: string; text: string }) {
  return (
    <pre className={classes.json} tabIndex={0} role="region" aria-label={label}>
      {text.length > MAX_COLOURED ? text : coloured(text)}
    </pre>
  );
}

function coloured(text: string) {
  let end = 0;
  const parts = [...text.matchAll(TOKENS)].map(({ 0: token, 1: word, 2: colon, index }) => {
    const before = text.slice(end, index);
    end = index + token.length;
    const isName = word !== undefined && colon !== undefined;
    const className = isName ? undefined : word === undefined ? classes.number : classes.text;
    return (
      <Fragment key={index}>
        {before}
        {className === undefined ? token : <span className={className}>{token}</span>}
      </Fragment>
    );
  });
  return [...parts, text.slice(end)];
}
