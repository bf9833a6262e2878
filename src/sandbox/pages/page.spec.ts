import { html } from './page';

describe('html', () => {
  it('escapes every value, in text and in attributes', () => {
    const evil = `<script>alert("1")</script>'&`;
    const escaped = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;';
    expect(html`<p title="${evil}">${evil}</p>`.markup).toBe(`<p title="${escaped}">${escaped}</p>`);
  });

  it('joins markup unchanged, and omits missing values', () => {
    const items = ['<', '>'].map((text) => html`<li>${text}</li>`);
    expect(html`${items}`.markup).toBe('<li>&lt;</li>\n<li>&gt;</li>');
    expect(html`${undefined}${false}${0}`.markup).toBe('0');
  });
});
