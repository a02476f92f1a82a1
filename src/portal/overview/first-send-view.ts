// The programs of a first mail as tabs: radio buttons, so that they work without script.
import { type Html, html } from '../../http/html.ts';
import { copyableBlock } from '../elements.ts';
import { curlSnippet, type FirstSendFacts, personalized, type Snippet, shellWord } from './first-send.ts';

export function firstSendView(snippets: readonly Snippet[], facts: FirstSendFacts): Html {
  const environment = `export POSTRIDER_API_KEY=…\nexport POSTRIDER_BASE_URL=${shellWord(facts.baseUrl)}`;
  const all = [curlSnippet(facts), ...snippets.map((snippet) => personalized(snippet, facts))];
  return html`<section id="first-send" class="card">
<h2>Send your first message</h2>
<p>Keep the key out of your source code: these examples read it, and the address of the service, from the environment.</p>
${copyableBlock(environment, 'the settings')}
<fieldset class="tabs"><legend class="unseen">Language</legend>
${all.map((snippet, at) => tab(snippet, at === 0))}
</fieldset>
</section>`;
}

function tab({ id, label, install, code }: Snippet, chosen: boolean): Html {
  return html`<input type="radio" name="first-send" id="first-send-${id}"${chosen && html` checked`}><label for="first-send-${id}">${label}</label><div class="panel">${
    install !== null && copyableBlock(install, `the install command for ${label}`)
  }${copyableBlock(code, `the program for ${label}`)}</div>`;
}
