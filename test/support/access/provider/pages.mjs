const escape = (text) => String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A page of the provider. `html` is trusted. */
export function messagePage(title, text, html = '') {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title>
    <link rel="icon" href="data:,"></head>
    <body><main><h1>${escape(title)}</h1><p>${escape(text)}</p>${html}</main></body></html>`;
}

/** Requests name and password, and a second factor for clients that require one. */
export function loginPage({ uid, wantsSecondFactor, error = '' }) {
  const field = (label, name, type) => `<p><label>${label} <input name="${name}" type="${type}"></label></p>`;
  const fields = [field('Name', 'username', 'text'), field('Password', 'password', 'password')];
  if (wantsSecondFactor) fields.push(field('Code', 'code', 'text'));
  const form = `<form method="post" action="/interaction/${escape(uid)}">${fields.join('')}
    <button type="submit">Sign in</button></form>`;
  return messagePage('Sign in to the test provider', error, form);
}
