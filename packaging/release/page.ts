// The release's page, in Markdown: what has changed, how each file is installed, and how it is verified.
import type { Section } from './changelog.ts';
import type { Commit } from './part.ts';

export interface Edition {
  version: string;
  commit: Commit;
  section: Section;
  files: ReleaseFile[];
}

export interface ReleaseFile {
  name: string;
  bytes: number;
}

export const GO_MODULE = 'postrider.example/postrider-go';

interface Kind {
  name: RegExp;
  what: string;
  /** One shell command, or several. */
  install?: (file: string, edition: Edition) => string;
}

const KINDS: Kind[] = [
  {
    name: /_(?:amd64|arm64)\.deb$/,
    what: 'Debian package of the service, for Debian 12 and newer',
    install: (file) => `apt install ./${file}`,
  },
  { name: /^postrider-[\d.]+\.tar\.gz$/, what: 'source archive' },
  { name: /\.cdx\.json$/, what: "the service's dependencies (SBOM, CycloneDX)" },
  { name: /\.tgz$/, what: 'client library for Node', install: (file) => `npm install ./${file}` },
  { name: /\.whl$/, what: 'client library for Python', install: (file) => `pip install ./${file}` },
  { name: /^postrider_client-.*\.tar\.gz$/, what: 'client library for Python, as sources' },
  {
    name: /^postrider-go-.*\.zip$/,
    what: 'client library for Go, a module zip',
    install: (file, { version }) => {
      const replace = `go mod edit -replace ${GO_MODULE}=./postrider-go-v${version}`;
      const unpack = `unzip -q ${file} && mv ${GO_MODULE}@v${version} postrider-go-v${version}`;
      return `${unpack} && ${replace} && go get ${GO_MODULE}`;
    },
  },
  { name: /\.gem$/, what: 'client library for Ruby', install: (file) => `gem install --local ${file}` },
  {
    name: /client-[\d.]+\.jar$/,
    what: 'client library for Java',
    install: (file) => `mvn install:install-file -Dfile=${file} -DpomFile=${file.replace(/jar$/, 'pom')}`,
  },
  { name: /-sources\.jar$/, what: 'client library for Java: sources' },
  { name: /-javadoc\.jar$/, what: 'client library for Java: documentation' },
  { name: /\.pom$/, what: 'client library for Java: description for Maven' },
  {
    name: /^postrider-client-php-.*\.zip$/,
    what: 'client library for PHP (to read it, Composer needs PHP with zip)',
    install: (_, { version }) =>
      `composer config repositories.postrider artifact . && composer require postrider/client:${version}`,
  },
];

function kindOf(file: string): Kind {
  const kind = KINDS.find(({ name }) => name.test(file));
  if (kind === undefined) throw new Error(`nothing is known about a file ${file}`);
  return kind;
}

export function releasePage(edition: Edition): string {
  const { version, commit, section, files } = edition;
  const rows = files.map(({ name, bytes }) => `| \`${name}\` | ${bytes} | ${kindOf(name).what} |`);
  const installs = files.flatMap(({ name }) => {
    const { what, install } = kindOf(name);
    return install === undefined ? [] : [`# ${what}`, install(name, edition)];
  });
  return `# Postrider ${version}

${section.remark}, commit \`${commit.id}\`.

## Install

In the folder of the downloaded file, whichever of these you need:

\`\`\`bash
${installs.join('\n')}
\`\`\`

\`docs/operate.md\` says how to set up the service, the \`README.md\` of each client library how to use it.

## Files

| file | bytes | what it is |
| --- | --- | --- |
${rows.join('\n')}

To verify the files that you have downloaded:

\`\`\`bash
sha256sum --check --ignore-missing SHA256SUMS
\`\`\`

Anyone can make the same files, byte for byte, from the commit: \`docs/releasing.md\` says how, and with which tools.

## Changes

${section.body}
`;
}
