import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { chooseNamed, findNames } from '../../../lib/chat/mentions/rules-find.ts'
import { uniqueKey } from '../../../lib/core/characters.ts'

/** The users that a text mentions, when these are the participants. */
function mentioned(text: string, usernames: string[]): string[] {
  const idOf = new Map(usernames.map((name) => [uniqueKey(name), name]))
  const { user_ids, all } = chooseNamed(findNames(text), idOf)
  return all ? [...user_ids, '(all)'] : user_ids
}

describe('the persons that a text mentions', () => {
  it('finds a name behind many words that may be names', () => {
    const filler = '@1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0\n'.repeat(300)
    expect(mentioned(`${filler} @ada @all`, ['ada'])).toEqual(['ada', '(all)'])
  })

  it('does not count the author', () => {
    const names = Array.from({ length: 50 }, (_, n) => `u${n}`)
    const idOf = new Map(['me', ...names].map((name) => [name, name]))
    const written = findNames(['me', ...names].map((name) => `@${name}`).join(' '))
    expect(chooseNamed(written, idOf, 'me').user_ids).toEqual(names)
  })

  it('counts the users that are mentioned in any case', () => {
    const names = Array.from({ length: 50 }, (_, n) => `u${n}`)
    const idOf = new Map(names.map((name) => [name, name]))
    const written = findNames(names.map((name) => `@${name}`).join(' '))
    const { user_ids, names: keys } = chooseNamed(written, idOf, undefined, ['grace', 'u49'])
    expect(user_ids).toEqual(['grace', 'u49', ...names.slice(0, 48)])
    expect(Object.keys(keys)).toEqual([...names.slice(0, 48), 'u49'])
  })

  it.each<[what: string, text: string, usernames: string[], found: string[]]>([
    ['one at the beginning', '@ada hello', ['ada'], ['ada']],
    ['one at the end', 'hello @ada', ['ada'], ['ada']],
    ['one before a dot', 'Ask @ada.', ['ada'], ['ada']],
    ['one before an apostrophe', "It is @ada's", ['ada'], ['ada']],
    ['one in brackets', '(@ada)', ['ada'], ['ada']],
    ['one in another case', 'hello @ADA', ['ada'], ['ada']],
    ['one in full width', 'hello @ａｄａ', ['ada'], ['ada']],
    ['one with decomposed letters', 'hello @Zoe\u0308', ['Zo\u00EB'], ['Zo\u00EB']],
    ['each one once', '@ada and @bob and @ada', ['ada', 'bob'], ['ada', 'bob']],
    ['two without a space', '@ada,@bob', ['ada', 'bob'], ['ada', 'bob']],
    ['a name with spaces', 'Hi @Erika Mustermann, hi', ['Erika', 'Erika Mustermann'], ['Erika Mustermann']],
    [
      'the shorter name where the longer one is not written',
      'Hi @Erika Muster',
      ['Erika', 'Erika Mustermann'],
      ['Erika'],
    ],
    [
      'a name with spaces before another mention',
      '@Erika Mustermann @bob',
      ['Erika Mustermann', 'bob'],
      ['Erika Mustermann', 'bob'],
    ],
    ['names of which one begins with the other', 'Hi @user0 and @user0-2', ['user0', 'user0-2'], ['user0', 'user0-2']],
    ['no other person than the one that is written', 'Hi @user0-2', ['user0'], []],
    ['a name with dots', 'ask @ment.ion about it', ['ment.ion', 'ment'], ['ment.ion']],
    ['not the first part of a name with dots', 'ask @ment.ion', ['ment'], []],
    ['a name that ends with a dot', '@baris. works', ['baris.'], ['baris.']],
    ['a name that is an address', 'hi @ada@example.org', ['ada@example.org'], ['ada@example.org']],
    ['a name of ideographs', '你好 @林 小姐', ['林 小姐'], ['林 小姐']],
    ['a name of emoji', 'hi @🦊!', ['🦊'], ['🦊']],
    ['no user in an address', 'mail ada@ada.example or x.@ada', ['ada'], []],
    ['no user in a path', 'https://example.org/@ada and a/@ada', ['ada'], []],
    ['no user behind two @', '@@ada', ['ada'], []],
    ['no user inside a word', '_@ada-@ada', ['ada'], []],
    ['no user by the beginning of a name', '@ad hello', ['ada'], []],
    ['no user by the beginning of a word', '@adam and @ada_x and @ada1', ['ada'], []],
    ['no user behind a space', '@ ada', ['ada'], []],
    ['no user across lines', '@Erika\nMustermann', ['Erika Mustermann'], []],
    ['no user in a span of code', 'write `@ada` there', ['ada'], []],
    ['no user between double backticks', '``a ` @ada`` there', ['ada'], []],
    ['no user in a fenced block', '```js\n@ada\n```\n@bob', ['ada', 'bob'], ['bob']],
    ['no user in a block that does not end', 'so:\n~~~\n@ada\n```\n@bob', ['ada', 'bob'], []],
    ['one behind a span of three backticks', '```code``` for @ada', ['ada'], ['ada']],
    ['no user in a block with a line of spans', '```\n``` x ```\n@ada\n```\n@bob', ['ada', 'bob'], ['bob']],
    ['no user in a block of tildes with tildes behind it', '~~~ a ~~~\n@ada\n~~~\n@bob', ['ada', 'bob'], ['bob']],
    ['one behind a backtick that is not closed', 'a ` b @ada', ['ada'], ['ada']],
    ['one where a backtick is closed in another paragraph', 'a ` b\n\n@ada `', ['ada'], ['ada']],
    ['one between two spans', '`a` @ada `b`', ['ada'], ['ada']],
    ['one with a backtick in the name', 'hi @ad`a', ['ad`a'], ['ad`a']],
    ['two with a backtick in the name', '@ad`a and @ad`a, @bo`b!', ['ad`a', 'bo`b'], ['ad`a', 'bo`b']],
    ['one behind a name with a backtick', '@ad`a sees @bob and `code`', ['ad`a', 'bob'], ['ad`a', 'bob']],
    ['no user in code behind a name with a backtick', '@ad`a: `@bob` @cy', ['ad`a', 'bob', 'cy'], ['ad`a', 'cy']],
    ['no user with a backtick in the name in code', 'write `@ad`a` for @bob', ['ad`a', 'bob'], ['bob']],
    ['no user in code behind a name that is no user', '@ad`a @bob` @cy', ['bob', 'cy'], ['cy']],
    ['all, behind a name with a backtick', '@ad`a and @all `', ['ad`a'], ['ad`a', '(all)']],
    ['one before more signs than a word has inside of it', `@ada${'-'.repeat(65)}x`, ['ada'], ['ada']],
    ['all', 'Hello @all, lunch', ['ada'], ['(all)']],
    ['all, also in capitals', '@ALL', [], ['(all)']],
    ['all and a person', '@all and @ada', ['ada'], ['ada', '(all)']],
    ['a person whose name begins with all', '@all hands', ['all hands'], ['all hands']],
    ['not all in a word', '@allen and @all-hands', [], []],
    ['one between Chinese letters', '交给@grace处理', ['grace'], ['grace']],
    ['one with a Korean ending', '@김철수님', ['김철수'], ['김철수']],
    ['the longest name before a Korean ending', '@김철수님께', ['김', '김철수', '김철수님'], ['김철수님']],
    ['one with a decomposed Korean ending', '@김철수님'.normalize('NFD'), ['김철수'], ['김철수']],
    ['no user by a part of a Korean syllable', '@김'.normalize('NFD'), ['기', '키'], []],
    ['one between Japanese letters', '今日は@adaさんとカナ@bobだ', ['ada', 'bob'], ['ada', 'bob']],
    ['one behind a decomposed Japanese letter', 'か\u3099@ada', ['ada'], ['ada']],
    ['no user by a part of a Japanese letter', '@か\u3099 and @ｶﾞ', ['か', 'カ'], []],
    ['one between Thai letters', 'ถึง@สมชายครับ', ['สมชาย'], ['สมชาย']],
    ['one behind a Thai mark', 'ที่@ada', ['ada'], ['ada']],
    ['no user by a part of a Thai syllable', '@สำ and @กิ', ['ส', 'ก'], []],
    [
      'ones between Lao, Khmer and Burmese letters',
      'ຂອບໃຈ@adaຂ សូម@bobស မင်္ဂလာ@cyမ',
      ['ada', 'bob', 'cy'],
      ['ada', 'bob', 'cy'],
    ],
    ['one before a letter of two units', '交给@grace𠀀', ['grace'], ['grace']],
    ['one behind a letter of two units', '𠀀@grace', ['grace'], ['grace']],
    ['no user behind another letter of two units', '𐐀@grace', ['grace'], []],
    ['no user behind a digit, also a Thai one', '5@ada ๕@ada', ['ada'], []],
    ['no user before a Thai digit', '@ada๕', ['ada'], []],
    ['no user behind a letter with a mark', 'e\u0301@ada', ['ada'], []],
    ['one behind an emoji with a selector', '❤\uFE0F@ada', ['ada'], ['ada']],
    ['two without a space in Chinese', '@林@王', ['林', '王'], ['林', '王']],
    [
      'a name that is an address of Chinese letters',
      'hi @林@example.org',
      ['林', '林@example.org', 'example.org'],
      ['林@example.org'],
    ],
    ['no user inside of a longer name', '@林@ada', ['林@ada', 'ada'], ['林@ada']],
    ['one in emphasis', '*@ada* **@bob** ***@cy***', ['ada', 'bob', 'cy'], ['ada', 'bob', 'cy']],
    ['one in underscores', '_@ada_ __@bob__, _@cy_.', ['ada', 'bob', 'cy'], ['ada', 'bob', 'cy']],
    ['one in underscores and asterisks', '_**@ada**_ **_@bob_**', ['ada', 'bob'], ['ada', 'bob']],
    ['one that is crossed out', '~@ada~ ~~@bob~~', ['ada', 'bob'], ['ada', 'bob']],
    ['one in underscores between Chinese letters', '交给_@grace_处理', ['grace'], ['grace']],
    ['a name that ends with an underscore', '@ada_ and _@ada__', ['ada', 'ada_'], ['ada_']],
    ['a name that begins with an underscore', '@_ada', ['ada', '_ada'], ['_ada']],
    ['a name that ends with an asterisk', '*@ada** and @bob~', ['ada', 'ada*', 'bob', 'bob~'], ['ada*', 'bob~']],
    ['a name with signs of Markdown in it', '@a_d~a*x', ['a', 'a_d~a*x'], ['a_d~a*x']],
    ['no user in a word with an underscore', 'snake_@ada and a/_@ada', ['ada'], []],
    ['no user in a word that goes on behind an underscore', '@ada_x @ada__1', ['ada'], []],
    ['no user behind a backslash', '\\@ada and \\@all and 交\\@ada', ['ada'], []],
    ['one behind a backslash that is escaped', '\\\\@ada', ['ada'], ['ada']],
    ['no user behind three backslashes', '\\\\\\@ada', ['ada'], []],
    ['a name with a backslash', '@corp\\ada', ['corp\\ada'], ['corp\\ada']],
    ['no user in a quoted line', '> @all and @ada\n@bob', ['ada', 'bob'], ['bob']],
    ['no user in a quoted line behind three spaces', 'hi\n   >@all\n', [], []],
    ['one behind four spaces and a sign', '    > @ada', ['ada'], ['ada']],
    ['one before and behind a sign that quotes nothing', '@ada > 3 and a > @bob', ['ada', 'bob'], ['ada', 'bob']],
    ['no user in quotes 200 deep', `${'> '.repeat(200)}@ada\n${'>'.repeat(200)}@all`, ['ada'], []],
    ['no user in quoted lines of Windows', '> @ada\r\n> @all\r\n@bob', ['ada', 'bob'], ['bob']],
    ['one between backticks of quotes', '> a ` b\n@ada\n> c ` d', ['ada'], ['ada']],
    ['one behind code in a quote', '> ```\n> @ada\n> ```\n@bob', ['ada', 'bob'], ['bob']],
    ['no user in a block with a quote', '```\n> x\n@ada\n```\n@bob', ['ada', 'bob'], ['bob']],
    ['no user with a backtick in the name in a quote', '> @ad`a\n@bo`b', ['ad`a', 'bo`b'], ['bo`b']],
    ['names within names', '@a @a b @a b c', ['a', 'a b', 'a b c'], ['a', 'a b', 'a b c']],
  ])('finds %s', (_, text, usernames, found) => {
    expect(mentioned(text, usernames)).toEqual(found)
  })

  it('finds the first fifty', () => {
    const usernames = Array.from({ length: 60 }, (_, n) => `user${n}`)
    expect(mentioned(usernames.map((name) => `@${name}`).join(' '), usernames)).toEqual(usernames.slice(0, 50))
  })

  it('looks for no half of a character', () => {
    const text = fc.string({ unit: fc.constantFrom('@', ' ', 'a', '🦊', '\u{A5BFF}', '𐐀'), maxLength: 200 })
    const names = (written: string) => findNames(written).places.flatMap(({ ends }) => [...ends.keys()])
    fc.assert(fc.property(text, (written) => names(`@${written}`).every((name) => !/\p{Surrogate}/u.test(name))))
    expect(names('@🦊\u{A5BFF}')).toEqual(['🦊\u{A5BFF}', '🦊'])
  })

  it('looks at a bounded number of candidates, whatever the text', () => {
    for (const text of [
      '@a '.repeat(80_000),
      `@${'a b '.repeat(60_000)}`,
      `@${'a b c d e f g h\n@'.repeat(10_000)}`,
      '`@'.repeat(100_000),
      '@林'.repeat(100_000),
      `@${'林'.repeat(100)} `.repeat(2_000),
      `\`@${'林'.repeat(100)}\` @${'林`'.repeat(50)} `.repeat(1_000),
    ]) {
      expect(findNames(text).places.flatMap(({ ends }) => [...ends.keys()]).length).toBeLessThanOrEqual(8_000)
    }
  })

  it.each([
    ['@', '@'],
    ['@ and a space', '@ '],
    ['mentions', '@ada '],
    ['mentions of Chinese letters', '@林'],
    ['underscores and @', '_@_'],
    ['underscores before one @', '_'],
    ['backslashes', '\\'],
    ['backslashes and @', '\\@'],
    ['marks', '\u0301'],
    ['signs within a word', '@a.-'],
    ['quotes', '> @\n'],
    ['spaces', ' '],
    ['quoted backticks', '>`@`\n'],
  ])('takes no longer for each unit of a long text of %s', (_, unit) => {
    const LONG = 512 * 1024
    /** The time of this length in texts of so many parts of it. */
    const timeIn = (parts: number) => {
      const text = `${unit.repeat(LONG / parts / unit.length)}@ada`
      const { user } = process.cpuUsage()
      for (let n = 0; n < parts; n++) findNames(text)
      return process.cpuUsage().user - user
    }
    const least = (parts: number) => Math.min(...Array.from({ length: 5 }, () => timeIn(parts)))
    // Square time would be 32 times as much.
    expect(least(1)).toBeLessThan(12 * least(32) + 50_000)
  })

  it('takes apart no line for its code that is neither blank nor a fence', () => {
    const trimEnd = vi.spyOn(String.prototype, 'trimEnd')
    onTestFinished(() => void trimEnd.mockRestore())
    findNames(`@ada ${'`a\n'.repeat(10_000)}`)
    expect(trimEnd).not.toHaveBeenCalled()
  })

  it('finds every username behind an @ and before a space, whatever it consists of', () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9éÜ林._-]{1,12}$/)
    const username = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(username, fc.constantFrom('', 'hello ', '(', '\n'), (name, before) => {
        expect(mentioned(`${before}@${name} `, [name])).toEqual(uniqueKey(name) === 'all' ? ['(all)'] : [name])
      }),
      { numRuns: 300 },
    )
  })
})
