/** Returns the URL that somebody typed. Without a scheme, the service finds out which one the website has. */
export const typedUrl = (text: string): { url: string; allowHttp?: true } =>
  /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? { url: text } : { url: `https://${text}`, allowHttp: true }
