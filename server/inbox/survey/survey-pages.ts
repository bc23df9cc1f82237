import { escapeHtml } from '../../platform/text/safety/escape-html.ts'

const page = (body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>How did we do?</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 3rem auto; padding: 0 1rem }
fieldset { border: 0; padding: 0; margin: 0 0 1rem; display: flex; gap: 1rem }
label { display: block }
textarea { width: 100%; min-height: 6rem; font: inherit; box-sizing: border-box }
button { font: inherit; padding: .5rem 1.5rem; margin-top: 1rem }
</style>
<main>
${body}
</main>
</html>
`

const stars = [1, 2, 3, 4, 5]
  .map((n) => `<label><input type="radio" name="rating" value="${n}" required> ${n}</label>`)
  .join('\n')

/** The form is submitted to its own URL. */
export const formPage = (subject: string | null): string =>
  page(`<h1>How did we do?</h1>
${subject ? `<p>${escapeHtml(subject)}</p>` : ''}
<form method="post">
<p id="scale">From 1 (not at all satisfied) to 5 (very satisfied)</p>
<fieldset aria-describedby="scale">
${stars}
</fieldset>
<label>Anything else? <textarea name="comment" maxlength="2000"></textarea></label>
<button>Send</button>
</form>`)

export const thanksPage = (): string => page('<h1>Thank you</h1>\n<p>Your answer has been kept.</p>')
