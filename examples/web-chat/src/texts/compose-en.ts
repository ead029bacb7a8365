/** The texts in English of what opens at the box of a message. They are loaded with it. */
export const texts = {
  draft_files: {
    retry: (name: string) => `Send ${name} again`,
    remove: (name: string) => `Remove ${name}`,
    uploading: (name: string) => `${name} is being sent`,
    failed: 'was not sent',
    not_asked: 'The assistant does not get files: they stay here for your next message.',
    waits: 'Your message is sent once the files are uploaded.',
  },
  refusals: {
    too_large: (names: string, count: number, size: string) =>
      `${names} ${count === 1 ? 'is' : 'are'} too large: a file has at most ${size}.`,
    are_empty: (names: string, count: number) => `${names} ${count === 1 ? 'is' : 'are'} empty.`,
    too_many: (names: string) => `A message has at most 10 files. These were not added: ${names}.`,
  },
  formats: { bold: 'Bold', italic: 'Italic', strike: 'Strikethrough', code: 'Code', list: 'List', quote: 'Quote' },
  draft_list: {
    empty: 'No drafts.',
    quote: 'A quote',
    discard: (place: string) => `Discard the draft for ${place}`,
  },
  completion: {
    mention: 'People to mention',
    everyone: 'Everyone here',
    names: (count: number) => (count === 1 ? '1 name, Enter takes it.' : `${count} names, arrows choose one.`),
  },
  emoji: {
    title: 'Emoji',
    search: 'Search emoji',
    found: (count: number) => (count === 1 ? '1 emoji, Enter takes it.' : `${count} emoji, arrows choose one.`),
    none: 'No emoji found.',
    groups: 'Categories',
    recent: 'Recent',
    // In the order of Unicode.
    names: [
      'Smileys and feelings',
      'People',
      'Animals and nature',
      'Food and drink',
      'Travel and places',
      'Activities',
      'Objects',
      'Symbols',
      'Flags',
    ] as readonly string[],
    tone: 'Skin tone',
    tones: ['Default', 'Light', 'Medium-light', 'Medium', 'Medium-dark', 'Dark'] as readonly string[],
    flag: 'flag',
  },
}
