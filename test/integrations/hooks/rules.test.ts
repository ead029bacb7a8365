import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cut } from '../../../lib/integrations/hooks/rules.ts'
import { toMarkdown } from '../../../lib/integrations/hooks/rules-markup.ts'
import { textOfSlack } from '../../../lib/integrations/hooks/rules-slack.ts'

describe('the marks of Slack', () => {
  it.each([
    ['*bold* words', '**bold** words'],
    ['a *bold word*, and 2 * 3 * 4', 'a **bold word**, and 2 * 3 * 4'],
    ['~struck~', '~~struck~~'],
    ['_italic_', '_italic_'],
    ['<https://example.org>', 'https://example.org'],
    ['<https://example.org/a_(b)|the page>', '[the page](https://example.org/a_%28b%29)'],
    ['<https://example.org|a [label]>', '[a \\[label\\]](https://example.org)'],
    ['<mailto:ada@example.org|Ada>', '[Ada](mailto:ada@example.org)'],
    ['<javascript:alert(1)|click>', 'click'],
    ['<!channel> look', 'channel look'],
    ['<!here>', 'here'],
    ['<!subteam^S1|@team>', '@team'],
    ['<!date^1392734382^{date}|a day>', 'a day'],
    ['<@U123>', 'U123'],
    ['<@U123|ada>', 'ada'],
    ['<#C123|general>', '#general'],
    ['1 &lt; 2 &amp;&amp; 3 &gt; 2', '1 < 2 && 3 > 2'],
    ['&amp;lt;', '&lt;'],
    ['`*code*` and *bold*', '`*code*` and **bold**'],
    ['```\n*code*\n```', '```\n*code*\n```'],
    ['<unclosed', '<unclosed'],
    ['', ''],
  ])('%s', (given, markdown) => {
    expect(toMarkdown(given)).toBe(markdown)
  })
})

describe('the text of a message of Slack', () => {
  it.each<[title: string, body: object, text: string]>([
    ['its text', { text: 'Hello' }, 'Hello'],
    ['its text before that of blocks', { text: 'Hello', blocks: [{ type: 'header', text: { text: 'No' } }] }, 'Hello'],
    [
      'that of blocks',
      {
        blocks: [
          { type: 'header', text: { type: 'plain_text', text: 'Deployed *now*' } },
          { type: 'section', text: { type: 'mrkdwn', text: '*web* <https://example.org|v42>' } },
          {
            type: 'section',
            fields: [
              { type: 'mrkdwn', text: '*By*\nada' },
              { type: 'plain_text', text: 'at 12' },
            ],
          },
          { type: 'divider' },
          {
            type: 'context',
            elements: [{ type: 'mrkdwn', text: 'one' }, { type: 'image' }, { type: 'mrkdwn', text: 'two' }],
          },
          { type: 'markdown', text: '# Title' },
          { type: 'unknown', text: { text: 'left out' } },
        ],
      },
      '**Deployed *now***\n\n**web** [v42](https://example.org)\n\n**By**\nada\nat 12\n\none  two\n\n# Title',
    ],
    [
      'rich text',
      {
        blocks: [
          {
            type: 'rich_text',
            elements: [
              {
                type: 'rich_text_section',
                elements: [
                  { type: 'text', text: 'a ' },
                  { type: 'text', text: ' bold ', style: { bold: true } },
                  { type: 'text', text: ' ' },
                  { type: 'link', url: 'https://example.org', text: 'link' },
                  { type: 'emoji', name: 'tada' },
                ],
              },
              {
                type: 'rich_text_list',
                style: 'bullet',
                elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'one' }] }],
              },
              { type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'code' }] },
              { type: 'rich_text_quote', elements: [{ type: 'text', text: 'said' }] },
            ],
          },
        ],
      },
      'a  **bold**  [link](https://example.org):tada:\n- one\n```\ncode\n```\n> said',
    ],
    [
      'attachments',
      {
        attachments: [
          {
            pretext: 'before',
            title: '[FIRING:1] Down',
            title_link: 'https://alerts.example.org',
            text: 'web is *down*',
            fields: [{ title: 'severity', value: 'critical' }],
            fallback: 'left out',
          },
          { fallback: 'only this' },
        ],
      },
      'before\n**[\\[FIRING:1\\] Down](https://alerts.example.org)**\nweb is **down**\n**severity**\ncritical\n\nonly this',
    ],
    ['a number', { text: 42 }, '42'],
    ['nothing', { text: ' ', blocks: 'no', attachments: [null, 1, []] }, ''],
  ])('%s', (_, body, text) => {
    expect(textOfSlack(body as Record<string, unknown>)).toBe(text)
  })

  it('is a text for any body, in a short time', () => {
    const named = fc.record(
      { text: fc.jsonValue(), blocks: fc.jsonValue(), attachments: fc.jsonValue() },
      { requiredKeys: [] },
    )
    fc.assert(fc.property(named, (body) => typeof textOfSlack(body) === 'string'))
    for (const piece of ['*', '*a', '~', '<', '`', '```', '<a|', '*a*', '&amp;']) {
      const text = piece.repeat(200_000 / piece.length)
      const started = performance.now()
      toMarkdown(text)
      expect(performance.now() - started, piece).toBeLessThan(2000)
    }
  })
})

it('a long text is cut between characters', () => {
  expect(cut('aé', 2)).toBe('a')
  expect(cut('aé', 3)).toBe('aé')
  expect(cut('😀😀', 7)).toBe('😀')
  expect(cut('abc', 0)).toBe('')
})
