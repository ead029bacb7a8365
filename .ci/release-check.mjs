// Whether a tag may be published: package.json and the code have its version, the changelog has a section for it, the lockfile
// proves every package, and the repository has an address: provenance names it.
//
//   npm run release:check -- v1.2.3
import { readFileSync } from 'node:fs'

const [tag = ''] = process.argv.slice(2)
const version = tag.replace(/^v/, '')
const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const { version: packed, repository } = JSON.parse(read('package.json'))
const { packages } = JSON.parse(read('package-lock.json'))
const unproven = Object.entries(packages).flatMap(([path, { link, inBundle, integrity }]) =>
  path === '' || link || inBundle || integrity ? [] : [path],
)

const problems = [
  !/^v\d+\.\d+\.\d+(-[\w.]+)?$/.test(tag) && `"${tag}" is no tag of a version: v1.2.3`,
  packed !== version && `package.json does not have the version ${version}`,
  !read('lib/core/version.ts').includes(`VERSION = '${version}'`) && `lib/core/version.ts does not have ${version}`,
  !new RegExp(`^## ${version.replaceAll('.', '\\.')}( |$)`, 'm').test(read('docs/changelog.md')) &&
    `docs/changelog.md has no section "## ${version}"`,
  repository.url.includes('OWNER') && 'package.json has a placeholder as its repository',
  unproven.length > 0 && `package-lock.json has no "integrity" of ${unproven.join(', ')}`,
].filter(Boolean)

for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length > 0 ? 1 : 0
