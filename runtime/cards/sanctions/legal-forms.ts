/** Words that do not identify a person or a company: particles, titles and legal forms. */

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Particles, which one spelling of a name includes and another leaves out. */
export const PARTICLES = wordsOf(
  `al el ul ud ad as at az ez bin ibn ben bint abu abou de la le du van von der den del di da dos the of and`,
)

/** Titles before a name, and suffixes after it. */
export const TITLES = wordsOf(
  `mr mrs ms miss dr prof professor sir dame lord lady herr frau monsieur madame mme senor senora don dona signor signora
   sheikh shaykh shaikh sheik cheikh sayyid sayed sayyed seyyed seyed syed mullah mulla mawlawi maulvi mawlavi maulana mawlana
   haji hajji hadji hajj imam ayatollah hojatoleslam ustad general gen maj major col colonel lt lieutenant capt captain brig
   brigadier admiral adm commander cdr marshal sgt sergeant eng engr engineer hon honorable honourable president minister
   comrade judge justice rev reverend jr sr esq phd md`,
)

/** Legal forms of companies in several languages. */
export const LEGAL_FORMS = wordsOf(
  `llc ltd limited inc incorporated corp corporation co company plc gmbh ag kg sa sarl sas spa srl bv nv oy ab as ooo oao zao pao
   ao jsc ojsc cjsc pjsc fze fzco fzc dmcc pte pty sdn bhd group holding holdings est establishment asbl vzw aisbl sc scs snc
   sro doo dd ad eood ood kft zrt rt sl slu ltda cv tbk pt ev ohg ug se sicav spol aps hf ehf lda eirl scrl pvt llp lp`,
)

/** Legal forms of more than one word. */
export const LEGAL_PHRASES =
  /\b(?:(?:public|open|closed|private)[ -])*joint[ -]stock (?:company|society)\b|\blimited liability (?:company|partnership)\b|\bprivate limited\b|\bs\.? en c\.?(?:\s|$)|\bs\.?a\.? de c\.?v\.?(?:\s|$)|\bs\.? ?[aà] ?r\.? ?l\b\.?/gi
