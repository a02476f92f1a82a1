// Sample data that is made up for a tenant's template: always a small JSON object, quickly; and with it, what is
// shown of a place in any source stays small as well.
import { dataFault, faultView } from '../../../src/portal/templates/faults.ts';
import { sampleData } from '../../../src/portal/templates/sample-data.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { FuzzTarget } from '../target.ts';
import { type Material, mutateText } from '../text-mutations.ts';

const SEEDS = [
  '<p>Hi {{ name }}, {{ user.first_name | upcase }}</p>{% if a.b %}{{ a.b }}{% endif %}',
  '{% for item in order.items %}{{ item.title }} {{ item.price.net }}{% for tag in item.tags %}{{ tag.x }}{% endfor %}{% endfor %}',
  '{%- assign x = y.z -%}{% capture c %}{{ x }}{% endcapture %}{{ c }}{{ __proto__.a }}{{ forloop.index }}',
  '{"name": "Ann", "items": [{"title": "a"}, null, 1.5e3]}\n',
];
const WORDS = [
  ...['{{', '}}', '{%', '%}', '{{-', '-%}', ' for ', ' in ', ' assign ', '.', 'a', 'a.b.c', 'constructor', '__proto__'],
  ...['toString', 'length', '"', "'", '|', '\n', '\r\n', '\0', '\ud800', '🎉', '{', '}', '[', ']', ',', ':'],
];
const LONG_WORDS = ['{{ a'.repeat(10_000), '{% for a in a.a %}'.repeat(2000), '.a'.repeat(20_000), '{'.repeat(20_000)];
const MOST_CHARS = 20_000;

export const templateSampleTarget: FuzzTarget = {
  name: 'template-sample',
  open() {
    const material: Material = { seeds: SEEDS, words: WORDS, longWords: LONG_WORDS };
    const reached = { sample: 0, empty: 0, faulty: 0 };
    return {
      mutate: (random: SeededRandom) => mutateText(material, random),
      reached,
      run(source: string) {
        const json = sampleData(source);
        reached[json === '{}' ? 'empty' : 'sample']++;
        if (json.length > MOST_CHARS) return `a sample of ${json.length} characters`;
        if (dataFault(json) !== null) return 'the sample is no JSON object';
        const fault = dataFault(source);
        if (fault === null) return null;
        reached.faulty++;
        const shown = faultView(fault, source).text.length;
        return shown > MOST_CHARS ? `${shown} characters are shown of one fault` : null;
      },
    };
  },
};
