// A page as a test sees it: its text, its links, its forms with their fields. Parsed by parse5, as a browser
// would; forms are sent with the fields that they hold, as a browser without script does.
import { type DefaultTreeAdapterMap, parse } from 'parse5';

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

export interface PageForm {
  action: string;
  method: string;
  fields: URLSearchParams;
  /** What its buttons say. */
  buttons: string[];
}

export interface Page {
  status: number;
  headers: Headers;
  /** Where it is, after redirects. */
  path: string;
  source: string;
  title: string;
  /** What people read, white space made single. */
  text: string;
  /** The texts of the elements that the test accepts. */
  texts(test: (name: string, attributes: Record<string, string>) => boolean): string[];
  links: { href: string; text: string }[];
  forms: PageForm[];
  /** The form that sends to this path, or whose button says this. */
  form(actionOrButton: string): PageForm;
}

export function readPage(source: string, at: { status: number; headers: Headers; path: string }): Page {
  const elements = [...elementsOf(parse(source))];
  const named = (name: string) => elements.filter((element) => element.tagName === name);
  const forms = named('form').map((element) => readForm(element, at.path));
  const page: Page = {
    ...at,
    source,
    title: textOf(named('title')[0]),
    text: textOf(named('body')[0]),
    texts: (test) => elements.filter((element) => test(element.tagName, attributesOf(element))).map(textOf),
    links: named('a').map((element) => ({ href: attributesOf(element).href ?? '', text: textOf(element) })),
    forms,
    form(wanted) {
      const found = forms.find(({ action, buttons }) => action === wanted || buttons.includes(wanted));
      if (!found)
        throw new Error(`there is no form ${wanted} on ${at.path} (${at.status}): ${page.text.slice(0, 500)}`);
      return found;
    },
  };
  return page;
}

function readForm(form: Element, path: string): PageForm {
  const fields = new URLSearchParams();
  const buttons: string[] = [];
  for (const element of elementsOf(form)) {
    const { name, type, value, ...rest } = attributesOf(element);
    if (element.tagName === 'button') buttons.push(textOf(element));
    else if (name === undefined) continue;
    else if (element.tagName === 'textarea') fields.append(name, rawText(element).replace(/^\n/, ''));
    else if (element.tagName === 'select') fields.append(name, chosenIn(element));
    else if (element.tagName !== 'input' || type === 'file') continue;
    else if (type === 'checkbox' || type === 'radio') {
      if ('checked' in rest) fields.append(name, value ?? 'on');
    } else fields.append(name, value ?? '');
  }
  const { action, method = 'get' } = attributesOf(form);
  return { action: action ?? path, method: method.toLowerCase(), fields, buttons };
}

function chosenIn(select: Element): string {
  const options = [...elementsOf(select)].filter(({ tagName }) => tagName === 'option');
  const chosen = options.find((option) => 'selected' in attributesOf(option)) ?? options[0];
  return chosen ? (attributesOf(chosen).value ?? textOf(chosen)) : '';
}

function* elementsOf(node: Node): Generator<Element> {
  if (!('childNodes' in node)) return;
  for (const child of node.childNodes) {
    if ('tagName' in child) yield child;
    yield* elementsOf(child);
  }
}

function attributesOf({ attrs }: Element): Record<string, string> {
  return Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
}

function textOf(node: Node | undefined): string {
  return node ? rawText(node).replace(/\s+/g, ' ').trim() : '';
}

/** Neighbouring elements are read as words of their own. */
function rawText(node: Node): string {
  if (node.nodeName === '#text') return (node as DefaultTreeAdapterMap['textNode']).value;
  if (!('childNodes' in node) || node.nodeName === 'script' || node.nodeName === 'style') return '';
  return node.childNodes.map(rawText).join(INLINE.has(node.nodeName) ? '' : ' ');
}

const INLINE = new Set([
  'a',
  'b',
  'code',
  'em',
  'span',
  'strong',
  'time',
  'button',
  'textarea',
  'title',
  'p',
  'label',
  'option',
]);
