// Something to try: a short answer of which some holds, some does not, and some cannot be told from the document.
export const EXAMPLE = {
  prompt: "Tell me about the Menai Suspension Bridge.",
  response: "The Menai Suspension Bridge was designed by Thomas Telford. It was opened on 30 January 1836. The bridge joins the island of Anglesey to the mainland of Wales.\n\nIts main span is 176 metres long. Before the bridge was built, travellers crossed the strait by ferry. The bridge is painted green every spring. I hope this helps!",
  documents: [
    { title: "The bridge over the Menai Strait", text: "The Menai Suspension Bridge was designed by Thomas Telford. It was opened on 30 January 1826. The bridge joins the island of Anglesey to the mainland of Wales. The main span of the bridge is 176 metres long." },
    { title: "Crossing the strait", text: "Before the bridge was built, travellers crossed the Menai Strait by ferry. Cattle on their way to the markets of England had to swim." },
  ],
};
