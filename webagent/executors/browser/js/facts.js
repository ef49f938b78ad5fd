// The facts of a page that drift is told from.
() => {
/*about*/

const captcha = 'iframe[src*="recaptcha"],iframe[src*="hcaptcha"],iframe[src*="turnstile"],' +
  '.g-recaptcha,.h-captcha,.cf-turnstile,iframe[src*="captcha"],img[src*="captcha"]';
const any = (q) => [...document.querySelectorAll(q)].some(shown);
return JSON.stringify({title: document.title, sign_in: any('input[type=password]'),
  captcha: any(captcha) || /^just a moment|attention required|are you (a )?human/i.test(document.title),
  size: document.getElementsByTagName('*').length});
}
