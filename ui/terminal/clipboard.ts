import { formatBytes } from '../../src/shared/byte-size.ts';

/** Terminals drop longer sequences without a word; the usual limit is 100,000 bytes of base64. */
const MAX_BASE64 = 100_000;

export interface CopyPlan {
  /** What to write to the terminal; undefined when the text is too long to arrive. */
  readonly sequence: string | undefined;
  readonly message: string;
}

/**
 * Asks the terminal to take a text into its clipboard (OSC 52). It is the terminal that the user sits at, so this
 * works through SSH; inside tmux the sequence is wrapped to pass through.
 */
export function planCopy(text: string, options: { ssh: boolean; tmux: boolean }): CopyPlan {
  const encoded = Buffer.from(text, 'utf8').toString('base64');
  const size = formatBytes(Buffer.byteLength(text));
  if (encoded.length > MAX_BASE64) {
    return { sequence: undefined, message: `${size} are too much for the terminal's clipboard; x writes a file` };
  }
  const sequence = `\u001b]52;c;${encoded}\u0007`;
  const where = options.ssh ? 'the clipboard of your own machine' : 'the clipboard';
  return { sequence: options.tmux ? throughTmux(sequence) : sequence, message: `copied ${size} to ${where}` };
}

function throughTmux(sequence: string): string {
  return `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\`;
}
